/** A title as part of a URL: `Über uns` becomes `uber-uns`. */
export function slug(title) {
    return title
        .normalize("NFD")
        .replace(/[\u0300-\u036f]/g, "")
        .toLowerCase()
        .replace(/[^a-z0-9]/, "-")
        .replace(/^-+|-+$/g, "");
}
