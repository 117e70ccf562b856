// An EvictionRequest of lifecycle.k8s.io: somebody asks whoever answers for a pod to move it.

/** The part of it that decisions need. */
export interface EvictionRequest {
  readonly namespace: string;
  readonly name: string;
  readonly podUid: string;
  /** Who asks, such as acme.io/foo. */
  readonly requester: string;
  readonly intent: 'Eviction' | 'Withdrawn';
  /** The uid of the NodeDrain that it is of; null: it is somebody else's. */
  readonly drain: string | null;
  /** That nobody works on it any more, and why; null: that is not said. */
  readonly failed: string | null;
}
