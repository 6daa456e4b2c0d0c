"use strict";
(() => {
  document.documentElement.classList.add("js");

  const make = (name, text, kind) => {
    const element = document.createElement(name);
    if (text) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const button = (text, label, act) => {
    const element = make("button", text);
    element.type = "button";
    element.setAttribute("aria-label", label);
    element.addEventListener("click", act);
    return element;
  };

  // Open the target of a link, and everything that contains it.
  const open = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let element = target; element; element = element.parentElement) {
      if (element.tagName === "DETAILS") element.open = true;
    }
    const state = target.closest(".state");
    if (state) state.dispatchEvent(new CustomEvent("choose", { bubbles: true }));
    else target.scrollIntoView();
  };

  const count = (facts) => `${facts.toLocaleString("en")} fact${facts === 1 ? "" : "s"}`;

  // A run: the facts of each state are those of the first with all changes so far.
  const steps = (run) => {
    const states = [...run.querySelectorAll(":scope > .timeline .state")];
    if (states.length < 2) return;
    const facts = (state, kind) => [...state.querySelectorAll(`li[data-${kind}]`)].map((item) => {
      const text = kind === "relation" ? item.querySelector("code").textContent : item.dataset[kind];
      return { relation: item.dataset.relation, text };
    });
    const added = states.map((state, k) => (k ? facts(state, "added") : []));
    const removed = states.map((state, k) => (k ? facts(state, "removed") : []));
    const first = facts(states[0], "relation");
    const loop = run.dataset.loop === undefined ? -1 : Number(run.dataset.loop);
    const last = states.length - 1;
    const all = Number(run.dataset.steps).toLocaleString("en");
    let now = 0;

    const panel = make("div", "", "panel");
    panel.tabIndex = 0;
    panel.setAttribute("role", "region");
    panel.setAttribute("aria-label", `State in ${run.getAttribute("aria-label")}`);
    const where = make("span", "", "where");
    where.setAttribute("role", "status");
    const controls = make("div", "", "controls");
    controls.setAttribute("role", "group");
    controls.setAttribute("aria-label", "Steps");
    const back = button("← Back", "Step back", () => go(now - 1));
    const next = button("Next →", "Next step", () => go(after()));
    controls.append(button("Start", "To the beginning", () => go(0)), back, next, where);
    run.prepend(panel);
    run.querySelector(".timeline").before(controls);

    const after = () => (now < last ? now + 1 : loop >= 0 ? loop + 1 : now);
    const show = () => {
      const held = new Map(first.map((fact) => [fact.text, fact.relation]));
      let size = Number(states[0].dataset.facts); // a large first state is shown in part
      for (let k = 1; k <= now; k += 1) {
        size += added[k].length - removed[k].length;
        removed[k].forEach((fact) => held.delete(fact.text));
        added[k].forEach((fact) => held.set(fact.text, fact.relation));
      }
      const fresh = new Set(added[now].map((fact) => fact.text));
      const gone = removed[now].map((fact) => [fact.text, fact.relation]);
      const listed = [...held, ...gone].sort((a, b) => (a[0] < b[0] ? -1 : 1));
      const title = make("p", now ? `State after step ${now}` : "State at the beginning", "title");
      const parts = [title, make("p", count(size), "quiet")];
      for (const relation of [...new Set(listed.map((pair) => pair[1]))].sort()) {
        const list = make("ul");
        for (const [text] of listed.filter((pair) => pair[1] === relation)) {
          const item = make("li");
          const name = !held.has(text) ? "del" : fresh.has(text) ? "ins" : "span";
          const mark = make(name);
          const code = make("code", text);
          mark.append(code);
          if (name !== "span") mark.append(make("span", name === "ins" ? " (new)" : " (removed)", "unseen"));
          item.append(mark);
          list.append(item);
        }
        parts.push(make("p", relation, "relation"), list);
      }
      if (size > held.size) parts.push(make("p", `${count(size - held.size)} of the beginning not shown`, "quiet"));
      panel.replaceChildren(...parts);
      const again = now === last && loop >= 0 ? `, then again from step ${loop + 1}` : "";
      where.textContent = now ? `step ${now} of ${all}${again}` : `start, ${all} step${last > 1 ? "s" : ""}`;
      back.setAttribute("aria-disabled", now === 0);
      next.setAttribute("aria-disabled", after() === now);
      states.forEach((state, k) => {
        state.classList.toggle("now", k === now);
        const head = state.querySelector(".head");
        if (k === now) head.setAttribute("aria-current", "step");
        else head.removeAttribute("aria-current");
      });
    };
    const go = (number) => {
      now = Math.max(0, Math.min(last, number));
      show();
      const focused = document.activeElement;
      if (focused && focused.matches(".head") && run.contains(focused)) {
        states[now].querySelector(".head").focus({ preventScroll: true });
      }
      const hidden = states[now].closest("details:not([open])");
      if (hidden) hidden.open = true;
      states[now].scrollIntoView({ block: "nearest" });
    };
    run.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const to = { ArrowLeft: now - 1, ArrowRight: after(), Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      go(to);
    });
    states.forEach((state, k) => {
      state.addEventListener("choose", () => go(k));
      state.querySelector(".head").addEventListener("click", (event) => {
        event.preventDefault();
        go(k);
      });
    });
    show();
  };

  // A drawing: larger and smaller, moved by dragging, by the arrow keys or by scrolling.
  const zoomable = (figure) => {
    const canvas = figure.querySelector(".canvas");
    const svg = canvas.querySelector("svg");
    const [width, height] = [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height];
    let scale = 1;
    const say = make("span", "", "quiet");
    say.setAttribute("role", "status");
    const zoom = (to, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) => {
      const before = scale;
      scale = Math.max(0.1, Math.min(4, to));
      const [left, top] = [canvas.scrollLeft + x, canvas.scrollTop + y];
      svg.setAttribute("width", width * scale);
      svg.setAttribute("height", height * scale);
      canvas.scrollLeft = (left * scale) / before - x;
      canvas.scrollTop = (top * scale) / before - y;
      say.textContent = `${Math.round(scale * 100)} %`;
    };
    const fit = () => zoom(Math.min(1, canvas.clientWidth / width));
    const bar = make("div", "", "zoom");
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Zoom");
    bar.append(
      button("−", "Smaller", () => zoom(scale / 1.25)),
      button("+", "Larger", () => zoom(scale * 1.25)),
      button("Fit", "Fit to the width", fit),
      button("1:1", "Full size", () => zoom(1)),
      say,
    );
    figure.prepend(bar);
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "+" || event.key === "=") zoom(scale * 1.25);
      else if (event.key === "-") zoom(scale / 1.25);
      else if (event.key === "0") fit();
      else return;
      event.preventDefault();
    });
    let from = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse" && event.button === 0 && !event.target.closest("a")) {
        from = [event.clientX + canvas.scrollLeft, event.clientY + canvas.scrollTop];
        canvas.classList.add("moving");
      }
    });
    addEventListener("pointermove", (event) => {
      if (!from) return;
      canvas.scrollLeft = from[0] - event.clientX;
      canvas.scrollTop = from[1] - event.clientY;
    });
    addEventListener("pointerup", () => {
      from = null;
      canvas.classList.remove("moving");
    });
    fit();
    if (scale < 0.5) zoom(0.5);
  };

  document.querySelectorAll(".run").forEach(steps);
  document.querySelectorAll(".graph").forEach(zoomable);
  addEventListener("hashchange", open);
  open();
})();
