/** A team's own activities. */
export async function shout(text: string): Promise<string> {
    return text.toUpperCase();
}
