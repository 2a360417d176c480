(() => {
  const all = (what, where = document) => [...where.querySelectorAll(what)];

  // what is going on elsewhere: a part of the page is loaded again from time to time
  all("[data-refresh]").forEach(part => {
    let last = part.innerHTML;
    const look = async () => {
      if (part.querySelector("[data-over]")) return;
      try {
        const answer = await fetch(part.dataset.refresh, { credentials: "same-origin" });
        const text = await answer.text();
        if (answer.ok && text !== last) {
          last = text;
          const held = document.activeElement, id = part.contains(held) ? held.id : "";
          if (id || !part.contains(held)) part.innerHTML = text;
          if (id) document.getElementById(id)?.focus();
          dispatchEvent(new Event("resize")); // tables that are wider than the page can be scrolled by keyboard
          if (part.querySelector("[data-over]")) { location.reload(); return; }
        }
      } catch { /* the server is being started again: ask later */ }
      setTimeout(look, Number(part.dataset.every));
    };
    setTimeout(look, Number(part.dataset.every));
  });

  // a file may be dropped anywhere on its form; one that is too large is not sent
  all("form.bring").forEach(form => {
    const input = form.querySelector("input[type=file]"), told = form.querySelector(".told");
    const fits = () => {
      const file = input.files[0], large = file && file.size > Number(form.dataset.most);
      told.textContent = large ? form.dataset.said : "";
      return !large;
    };
    input.addEventListener("change", fits);
    ["dragover", "dragleave", "drop"].forEach(what => form.addEventListener(what, event => {
      event.preventDefault();
      form.classList.toggle("over", what === "dragover");
      if (what === "drop" && event.dataTransfer.files.length) { input.files = event.dataTransfer.files; fits(); }
    }));
    form.addEventListener("submit", event => {
      if (!fits()) { event.preventDefault(); return; }
      told.textContent = "Reading ...";
    });
  });

  // a form is sent once
  all("form[method=post]").forEach(form => form.addEventListener("submit", event => {
    if (!event.defaultPrevented) setTimeout(() => all("button", form).forEach(one => { one.disabled = true; }));
  }));
  addEventListener("pageshow", () => all("form button[disabled]").forEach(one => { one.disabled = false; }));
  document.getElementById("problem")?.focus();
})();
