/**
 * What the extension uses of the browser, the same in Chrome and Firefox.
 *
 * Boundary: types and one name.
 */
export interface Tab {
    readonly id?: number;
    readonly url?: string;
    readonly title?: string;
    readonly active: boolean;
    readonly windowId: number;
    readonly status?: string;
    readonly lastAccessed?: number;
}

interface Told<A extends readonly unknown[]> {
    addListener(heard: (...args: A) => void): void;
}

export interface Browser {
    readonly tabs: {
        query(about: { readonly active?: boolean; readonly lastFocusedWindow?: boolean }): Promise<Tab[]>;
        get(id: number): Promise<Tab>;
        update(id: number, to: { readonly url?: string; readonly active?: boolean }): Promise<Tab>;
        create(about: { readonly url: string; readonly active: boolean }): Promise<Tab>;
        captureVisibleTab(window: number, as: { readonly format: "png" | "jpeg"; readonly quality?: number }): Promise<string>;
        readonly onActivated: Told<[unknown]>;
        readonly onUpdated: Told<[number, unknown]>;
    };
    readonly scripting: {
        executeScript(
            what:
                | { readonly target: { readonly tabId: number }; readonly files: readonly string[] }
                | {
                      readonly target: { readonly tabId: number };
                      readonly func: (asked: never) => unknown;
                      readonly args: readonly unknown[];
                  },
        ): Promise<readonly { readonly result?: unknown }[]>;
    };
    readonly permissions: {
        request(what: { readonly origins: readonly string[] }): Promise<boolean>;
        contains(what: { readonly origins: readonly string[] }): Promise<boolean>;
        remove(what: { readonly origins: readonly string[] }): Promise<boolean>;
    };
    readonly runtime: { getManifest(): { readonly host_permissions?: readonly string[] } };
    readonly storage: {
        readonly local: {
            get(key: string): Promise<{ readonly [key: string]: unknown }>;
            set(what: { readonly [key: string]: unknown }): Promise<void>;
            remove(key: string): Promise<void>;
        };
    };
}

const globals = globalThis as unknown as { readonly browser?: Browser; readonly chrome: Browser };
export const browser: Browser = globals.browser ?? globals.chrome;
