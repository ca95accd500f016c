/** Every diagnostic code. AgentScript's codes where the rule is the same. Filled in as a table by the checker. */
export type Code = string;
