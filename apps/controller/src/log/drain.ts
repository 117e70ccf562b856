// Log lines about NodeDrains.
import { blockerOf } from '@taintmgr/core';
import type { Notice } from '@taintmgr/k8s-adapter';
import { errorOf, type Line, line, podFields } from './line.ts';

type DrainWrite = Extract<Notice, { kind: 'drainWriteFinished' }>;
type Eviction = Extract<Notice, { kind: 'commandFinished' }>;
type RequestNotice = Extract<Notice, { kind: 'evictionRequests' | 'evictionRequestWritten' }>;
type RestartRollout = Extract<DrainWrite['command'], { kind: 'restartRollout' }>;

const texts = {
  cordon: 'cordoned a node for a drain',
  taint: 'tainted a node for a drain',
  renew: 'a drain is still at work on a node',
  end: 'a drain has ended on a node',
  untaint: 'removed the taint of a drain',
  undo: 'undid a drain on a node',
} as const;

/** The line about what a drain has written, or could not write. */
export function drainLine({ command, outcome, written: { left = [] } }: DrainWrite): Line {
  const { drain } = command;
  if (command.kind === 'guardDrain' || command.kind === 'deleteDrain') {
    if (outcome.kind === 'done' || outcome.kind === 'gone') {
      const isBegun = command.kind === 'guardDrain' && command.isGuarded;
      const isOver = command.kind === 'deleteDrain';
      const text = isOver ? 'deleted a drain' : isBegun ? 'a drain begins' : 'a drain is undone';
      return line('info', text, { drain });
    }
    return line('warn', 'could not write to a NodeDrain', { drain, error: errorOf(outcome) });
  }
  if (command.kind === 'restartRollout') return restartLine(command, outcome);
  const { write, nodeName: node } = command;
  const level = write.kind === 'renew' ? 'debug' : 'info';
  switch (outcome.kind) {
    case 'done': {
      const kept = left.length > 0 ? { left: left.join('; ') } : {};
      return line(level, texts[write.kind], { drain, node, ...kept });
    }
    case 'gone':
      return line(level, 'the node of a drain is gone', { drain, node });
    default: {
      const fields = { drain, node, write: write.kind, error: errorOf(outcome) };
      return line('warn', 'could not write on the node of a drain', fields);
    }
  }
}

/** The line about what a drain gives up on as the API server denies it; null: it is something else. */
export function deniedToDrainLine({ command, outcome }: Eviction): Line | null {
  const isDenied = outcome.kind === 'failed' && blockerOf(outcome).code === 'Denied';
  if (!command.ofDrain || !isDenied) return null;
  const fields = { ...podFields(command.pod), error: outcome.message };
  return line('warn', 'eviction denied, its drain does not retry', fields);
}

/** The line about what a drain asks of those who answer for pods, or others ask. */
export function requestLine(notice: RequestNotice): Line {
  if (notice.kind === 'evictionRequests') {
    const { isServed, requests } = notice;
    const of = askerOf(notice.drain);
    if (isServed)
      return line('debug', 'read EvictionRequests', { ...of, requests: requests.length });
    return line('debug', 'the cluster has no EvictionRequests', of);
  }
  const { command, outcome } = notice;
  const { write } = command;
  const isCreation = write.kind === 'create';
  const target = isCreation ? write.pod : write;
  const name = `${target.namespace}/${target.name}`;
  const fields = { ...askerOf(command.drain), ...(isCreation ? { pod: name } : { request: name }) };
  if (outcome.kind === 'done') {
    const text = isCreation ? 'requested the eviction of a pod' : 'withdrew an EvictionRequest';
    return line('info', text, fields);
  }
  return line('warn', 'could not write an EvictionRequest', { ...fields, error: errorOf(outcome) });
}

/** The drain that asks; nothing where the taint eviction does. */
function askerOf(drain: string): { readonly drain?: string } {
  return drain === '' ? {} : { drain };
}

function restartLine({ drain, pod, owner }: RestartRollout, outcome: DrainWrite['outcome']): Line {
  const fields = { drain, pod: `${pod.namespace}/${pod.name}`, replicaSet: owner.name };
  switch (outcome.kind) {
    case 'done':
      return line('info', 'a Deployment starts another pod before this one leaves', fields);
    case 'gone':
      return line('info', 'the Deployment of a pod is gone', fields);
    case 'changed': {
      const why = { ...fields, error: outcome.message };
      return line('info', 'a Deployment cannot start another pod first', why);
    }
    default: {
      const why = { ...fields, error: errorOf(outcome) };
      return line('warn', 'could not restart the rollout of a Deployment', why);
    }
  }
}
