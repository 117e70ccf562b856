// What carrying out NodeDrains asks for beside evictions.
import type { PodCommand, RecordPodEvent } from '../../attempt/command.ts';
import type { Reason } from '../../eviction/reason.ts';
import type { Taint } from '../../model/taint.ts';

/** What a drain writes on one of its nodes, and by which it is known there. */
export type NodeDrainWrite =
  /** Cordon it, if that is wanted, put the taint on, and show that we are at work: in one write. */
  | { readonly kind: 'taint'; readonly cordon: boolean }
  | { readonly kind: 'cordon' }
  /** Show that we are still at work. */
  | { readonly kind: 'renew' }
  /** Show that we are done; whether no pod was left that was to go. */
  | { readonly kind: 'end'; readonly isDrained: boolean }
  /** Take the taint back, and leave the cordon. */
  | { readonly kind: 'untaint' }
  /** Take back everything that the drain has set. */
  | { readonly kind: 'undo' };

/** Change a node of a drain. Answered by one `result` that carries the id. */
export interface WriteDrainNode {
  readonly kind: 'writeDrainNode';
  readonly id: string;
  readonly nodeName: string;
  /** The name and the uid of the NodeDrain. */
  readonly drain: string;
  readonly uid: string;
  readonly taint: Taint;
  readonly write: NodeDrainWrite;
}

/** Keep a NodeDrain until it is undone, or let it go. Answered by one `result` that carries the id. */
export interface GuardDrain {
  readonly kind: 'guardDrain';
  readonly id: string;
  readonly drain: string;
  readonly uid: string;
  readonly isGuarded: boolean;
}

export type NodeDrainCommand =
  | PodCommand<Reason>
  | RecordPodEvent<Reason>
  | WriteDrainNode
  | GuardDrain;
