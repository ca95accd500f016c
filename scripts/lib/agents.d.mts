/** Types of agents.mjs for the tests. */
export declare const AGENTS: {
    readonly [name: string]: { readonly package: string; readonly version: string; readonly node: boolean; readonly tested: boolean };
};
export declare const TESTED: readonly string[];
export declare function folderOf(name: string): string;
export declare function programOf(name: string): string;
export declare function has(name: string): boolean;
export declare function install(binary: string, names: readonly string[]): Promise<void>;
