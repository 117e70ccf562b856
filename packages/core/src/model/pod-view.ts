/** The way in which the pods of one node are known. */
export type PodView =
  /** Each change of them is heard of. */
  | 'watched'
  /** Asked for, and not all known yet. */
  | 'reading'
  /** The watch is cut off: what is known of them is as old as that. */
  | 'old'
  /** Nobody asked for them, since nothing is to be done about them. */
  | 'unread';

/** By the name of the node. */
export type PodViews = Readonly<Record<string, PodView>>;

/** Says in words how the pods of a node are known; null where there is nothing to say. */
export function describePodView(view: PodView): string | null {
  switch (view) {
    case 'watched':
      return null;
    case 'reading':
      return 'its pods are being read: nothing is decided about those not known yet';
    case 'old':
      return 'its pods are not being watched: each is read again before it goes';
    case 'unread':
      return 'its pods are not read: it has no NoExecute taint';
  }
}
