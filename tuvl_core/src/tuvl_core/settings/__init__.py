"""Settings: the environment over `tuvl.toml` and `[tool.tuvl]` over defaults.

A plugin declares its settings with `Setting` and reads them with `app.settings["acme.region"]`.
This room imports nothing heavy: the policy about plugins is read before any plugin is.
"""

from tuvl_core.settings.kernel import KERNEL_SETTINGS
from tuvl_core.settings.setting import Setting
from tuvl_core.settings.settings import SettingRow, Settings

__all__ = ["KERNEL_SETTINGS", "Setting", "SettingRow", "Settings"]
