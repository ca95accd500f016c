/** The shape of a skill that is part of the language. */
export interface ProtocolSkill {
    readonly name: string;
    readonly description: string;
    /** Markdown. */
    readonly text: string;
    /** Of its `SKILL.md`, lower-case hex. */
    readonly sha256: string;
}
