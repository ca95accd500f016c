// A tool whose calls take as long as they are told, for the suite's tasks; the smallest picture and the shortest sound.
import { setTimeout as after } from "node:timers/promises";

export const sleep = (seconds) => after(seconds * 1000, "slept");
export const remove = (name) => `removed ${name}`;
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const silence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
