export declare function harborFolder(): string;
/** Installs Harbor's validator where it is not there, and gives the folder for `PYTHONPATH`. */
export declare function harbor(): Promise<string>;
