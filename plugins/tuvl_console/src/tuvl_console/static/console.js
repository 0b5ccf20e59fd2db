// Keeps a page current: the server sends the parts that have changed, as HTML that it has rendered.
"use strict";

(() => {
  const url = document.body.dataset.live;
  const link = document.getElementById("link");
  const say = (text, state) => {
    if (!link) return;
    link.textContent = text;
    link.dataset.state = state;
  };

  // A form that somebody is filling in is not pulled away from under their hands.
  const busy = (part) => {
    const at = document.activeElement;
    return at && part.contains(at) && at.matches("input") && (at.type === "checkbox" ? at.checked : at.value !== "");
  };

  const place = (id, html) => {
    const part = document.getElementById(id);
    if (!part || busy(part)) return;
    const at = document.activeElement;
    const name = at && part.contains(at) ? at.closest("form")?.getAttribute("action") : null;
    const kind = at?.tagName;
    part.innerHTML = html;
    if (!name) return;
    const form = [...part.querySelectorAll("form")].find((one) => one.getAttribute("action") === name);
    const next = form?.querySelector(kind === "INPUT" ? "input" : "button") || part.querySelector("button");
    next?.focus();
  };

  if (url && "EventSource" in window) {
    const source = new EventSource(url);
    source.onopen = () => say("live", "on");
    source.onmessage = (message) => {
      for (const [id, html] of Object.entries(JSON.parse(message.data))) place(id, html);
    };
    source.addEventListener("end", () => {
      source.close();
      say("ended", "off");
    });
    source.onerror = () => say(source.readyState === EventSource.CLOSED ? "not connected" : "connecting again …", "lost");
    window.addEventListener("pagehide", () => source.close());
  }

  // Without scripts a form leads back to the page; with them the page stays, and only its answer is looked at.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.dataset.confirm && !window.confirm(form.dataset.confirm)) {
      event.preventDefault();
      return;
    }
    if (!form.closest("#controls")) return;
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      const body = new URLSearchParams(new FormData(form));
      const answer = await fetch(form.action, { method: "POST", body, redirect: "manual", credentials: "same-origin" });
      if (answer.type !== "opaqueredirect" && !answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        window.alert(page.querySelector("[role=alert]")?.textContent || "That did not work.");
      } else {
        form.reset();
      }
    } catch {
      window.alert("The server does not answer.");
    } finally {
      button.disabled = false;
    }
  });
})();
