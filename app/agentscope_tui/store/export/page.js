(() => {
  "use strict";
  const root = document.documentElement;
  const all = () => document.querySelectorAll("main details");
  const click = (id, act) => document.getElementById(id).addEventListener("click", act);
  root.classList.add("js");
  click("unfold", () => all().forEach((one) => (one.open = true)));
  click("fold", () => all().forEach((one) => (one.open = false)));
  click("theme", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme || (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
  const calls = [...document.querySelectorAll("section.call")];
  const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
  let current = null;
  const follow = () => {
    const atEnd = scrollY + innerHeight >= root.scrollHeight - 2;
    const edge = atEnd ? innerHeight : innerHeight / 3;
    const seen = calls.filter((one) => one.getBoundingClientRect().top < edge).pop();
    if (seen === current) return;
    if (current) links.get(current.id)?.removeAttribute("aria-current");
    current = seen;
    if (!seen) return;
    const link = links.get(seen.id);
    if (!link) return;
    link.setAttribute("aria-current", "true");
    const list = link.closest("ol");
    const place = link.offsetTop - list.offsetTop;
    if (place < list.scrollTop || place > list.scrollTop + list.clientHeight - 40) list.scrollTop = place - 80;
  };
  addEventListener("scroll", () => requestAnimationFrame(follow), { passive: true });
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  };
  addEventListener("hashchange", open);
  open();
  follow();
})();
