// A tool whose calls take as long as they are told, for the suite's tasks.
import { setTimeout as after } from "node:timers/promises";

export const sleep = (seconds) => after(seconds * 1000, "slept");
export const remove = (name) => `removed ${name}`;
