/** Rows of cells as lines of text, each column as wide as its widest cell: UTF-16 units. */
export function columns(rows: readonly (readonly string[])[]): string {
    const widths: number[] = [];
    for (const row of rows)
        row.forEach((cell, i) => {
            widths[i] = Math.max(widths[i] ?? 0, cell.length);
        });
    return rows
        .map((row) =>
            row
                .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
                .join("  ")
                .trimEnd(),
        )
        .join("\n");
}
