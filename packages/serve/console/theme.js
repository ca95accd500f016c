// Before the page is drawn, so that it does not flash: the theme that the person chose, else the system's.
{
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
