/**
 * Where the person is in the console, and the data of that place.
 *
 * Boundary: the part of the address behind `#`, which never reaches a server.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { ServerRefusal, request } from "./api.ts";

/** `#/runs/r1/trace` is `["runs", "r1", "trace"]`. */
export function here(): string[] {
    const path = location.hash.replace(/^#\/?/, "").split("?")[0] ?? "";
    return path === "" ? [] : path.split("/").map(decoded);
}

function decoded(part: string): string {
    try {
        return decodeURIComponent(part);
    } catch (error) {
        if (!(error instanceof URIError)) throw error;
        return part;
    }
}

export function to(...parts: readonly string[]): string {
    return `#/${parts.map(encodeURIComponent).join("/")}`;
}

export function usePlace(): string[] {
    const [place, set] = useState(here);
    useEffect(() => {
        const changed = (): void => set(here());
        addEventListener("hashchange", changed);
        return () => removeEventListener("hashchange", changed);
    }, []);
    return place;
}

export interface Data<T> {
    readonly data: T | null;
    readonly refused: ServerRefusal | null;
    reload(): void;
}

/** What an address gives; asked for again when `version` changes, while what was given before stays. One request at a time. */
export function useData<T>(path: string | null, version: unknown = 0): Data<T> {
    const [state, set] = useState<{ path: string | null; data: T | null; refused: ServerRefusal | null }>({
        path,
        data: null,
        refused: null,
    });
    const [again, setAgain] = useState(0);
    const busy = useRef(false);
    const wanted = useRef(false);
    useEffect(() => {
        if (path === null) return;
        let left = false;
        const load = async (): Promise<void> => {
            if (busy.current) {
                wanted.current = true;
                return;
            }
            busy.current = true;
            try {
                do {
                    wanted.current = false;
                    const data = await request<T>("GET", path);
                    if (!left) set({ path, data, refused: null });
                } while (wanted.current && !left);
            } catch (error) {
                if (!(error instanceof ServerRefusal)) throw error;
                if (!left) set((before) => ({ path, data: before.path === path ? before.data : null, refused: error }));
            } finally {
                busy.current = false;
                if (wanted.current && left) setAgain((n) => n + 1);
            }
        };
        void load();
        return () => {
            left = true;
        };
    }, [path, version, again]);
    const known = state.path === path;
    return { data: known ? state.data : null, refused: known ? state.refused : null, reload: () => setAgain((n) => n + 1) };
}

/** The title of the page, for the tab and for what reads the page out. */
export function useTitle(title: string): void {
    useEffect(() => {
        document.title = title === "" ? "Remit" : `${title} · Remit`;
    }, [title]);
}

/** Now, told again every so often while `on`. */
export function useNow(on: boolean, every = 1000): number {
    const [now, set] = useState(Date.now);
    useEffect(() => {
        if (!on) return;
        set(Date.now());
        // A page that is not looked at asks for nothing.
        const timer = setInterval(() => document.hidden || set(Date.now()), every);
        return () => clearInterval(timer);
    }, [on, every]);
    return now;
}
