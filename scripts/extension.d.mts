interface Made {
    readonly folder: string;
    readonly zip: string;
}
export function extension(out?: string): Promise<{ readonly chrome: Made; readonly firefox: Made }>;
