/**
 * Is told of a mistake of this package, and what was done when it was made; the cluster goes on. It is for
 * clusters that others use at the same time. Without it a mistake is thrown, so that no test and no
 * simulation passes over one.
 */
export type ReportBug = (error: unknown, during: string) => void;
