// Whom a track of a recording is about.

/** The pod that something is about. */
export interface PodName {
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
  /** `Deployment shop/web`; null: none that is counted. */
  readonly workload: string | null;
}

/** A track that is still being written. */
export type Open<Track> = { -readonly [Key in keyof Track]: Track[Key] };
