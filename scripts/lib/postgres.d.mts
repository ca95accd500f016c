export function postgresFolder(): string | null;
