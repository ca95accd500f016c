/** A text without its percent-encoding; null where that is malformed. */
export function percentDecoded(text: string): string | null {
    try {
        return decodeURIComponent(text);
    } catch (error) {
        if (error instanceof URIError) return null;
        throw error;
    }
}
