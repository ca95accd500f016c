/** How the files that list commands put them on the command line. */
import type { Command } from "commander";

/** What a command does; gives the exit code. */
export type Work = (args: string[], options: Record<string, unknown>) => Promise<number>;

/** Puts a command on the command line. `load`: its work, loaded when it is asked for. */
export type Add = (name: string, description: string, load: () => Promise<{ default: Work }>) => Command;
