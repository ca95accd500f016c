/** The list of runs of the ledger, with or without a session. */
import { type ComponentChildren, h } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RoutedAsk } from "../src/wire/messages.ts";
import type { ListedRun, RunPage } from "../src/wire/runs.ts";
import { at, type Me, ServerRefusal, request } from "./api.ts";
import { RoutedAsks } from "./asks.ts";
import { count, Empty, line, Loading, money, short, State, time, Trouble, When } from "./parts.ts";
import { to, useData, useNow, useTitle } from "./place.ts";

/** Between two looks at the ledger, milliseconds. */
const EVERY = 3000;

export function Runs({ search, me }: { readonly search: string; readonly me: Me }): ComponentChildren {
    useTitle("Runs");
    const asked = useLater(search, 200);
    const now = useNow(true, EVERY);
    const query = `search=${encodeURIComponent(asked)}`;
    const { data, refused } = useData<RunPage>(`${at("runs")}?${query}`, now);
    const [decided, setDecided] = useState(0);
    const asks = useData<{ readonly asks: readonly RoutedAsk[] }>(at("asks"), now + decided).data?.asks ?? [];
    const [more, setMore] = useState<{ query: string; runs: readonly ListedRun[]; next: string | null } | null>(null);
    const [failed, setFailed] = useState<ServerRefusal | null>(null);
    const added = more?.query === query ? more : null;
    const next = added === null ? data?.next : added.next;
    const seen = new Set(data?.runs.map(({ id }) => id));
    const runs = [...(data?.runs ?? []), ...(added?.runs ?? []).filter(({ id }) => !seen.has(id))];
    const load = async (): Promise<void> => {
        try {
            const page = await request<RunPage>("GET", `${at("runs")}?${query}&after=${encodeURIComponent(next ?? "")}`);
            setMore({ query, runs: [...(added?.runs ?? []), ...page.runs], next: page.next });
        } catch (error) {
            if (!(error instanceof ServerRefusal)) throw error;
            setFailed(error);
        }
    };
    return h(
        "div",
        { class: "page" },
        h("div", { class: "pagehead" }, h("h1", { tabIndex: -1 }, "Runs")),
        h(Trouble, { refused: failed ?? refused }),
        h(RoutedAsks, { asks, me, onDone: () => setDecided((n) => n + 1) }),
        data === null
            ? refused === null
                ? h(Loading, null)
                : null
            : runs.length === 0
              ? h(Empty, null, search === "" ? "The ledger holds no run yet." : "No run has this in its id, file, state, task or failure.")
              : h(
                    "ul",
                    { class: "rows" },
                    runs.map((one) => h(Row, { key: one.id, one })),
                ),
        next ? h("button", { type: "button", onClick: () => void load() }, "Older runs") : null,
    );
}

function Row({ one }: { readonly one: ListedRun }): ComponentChildren {
    const { input = 0, output = 0, usd } = one.usage;
    const tokens = input + output;
    return h(
        "li",
        null,
        h(
            "a",
            { class: "row", href: to("runs", one.id) },
            one.task === undefined
                ? h("span", { class: "title mono" }, fileOf(one))
                : h("span", { class: "title", title: fileOf(one) }, short(line(one.task), 120)),
            h(State, { state: one.state }),
            h(
                "span",
                { class: "soft facts" },
                [
                    time(one.spent),
                    `${count(one.steps)} steps`,
                    ...(tokens === 0 ? [] : [`${count(tokens)} tokens`]),
                    ...(usd ? [money(usd)] : []),
                ].join(" · "),
            ),
            h("span", { class: "soft mono id" }, line(one.id)),
            h("span", { class: "soft end" }, h(When, { at: one.started })),
            one.failure === undefined
                ? null
                : h("span", { class: "failure" }, `${line(one.failure.kind)}: ${short(line(one.failure.message), 160)}`),
        ),
    );
}

/** Many programs are called `main.remit`: the folder tells them apart. */
function fileOf({ folder, file }: ListedRun): string {
    return line(folder === undefined ? file : `${folder}/${file}`);
}

/** The value as it was when it last did not change for so long. */
function useLater<T>(value: T, ms: number): T {
    const [later, set] = useState(value);
    useEffect(() => {
        const timer = setTimeout(() => set(value), ms);
        return () => clearTimeout(timer);
    }, [value, ms]);
    return later;
}
