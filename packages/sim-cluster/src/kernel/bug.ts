/**
 * Receives a mistake of this package and the action that it interrupted; the cluster keeps running.
 * This suits clusters with other users. Without it a mistake is thrown, so that no test and no
 * simulation passes over one.
 */
export type ReportBug = (error: unknown, during: string) => void;
