/** The company's chat: a state, tools over it, what Noor wants and what attackers want. */
import type { World } from "../../kit.ts";
import { goals } from "./goals.ts";
import { type Chat, state, tools } from "./state.ts";
import { tasks } from "./tasks.ts";

export const chat: World<Chat> = { name: "chat", state, tools, tasks, goals };
