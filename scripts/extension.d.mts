export function extension(out?: string): Promise<{ readonly chrome: string; readonly firefox: string }>;
