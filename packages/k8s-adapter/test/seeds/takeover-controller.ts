// What a controller that decides beside kube-controller-manager is made with, in a story.
import type { Engine } from '@taintmgr/core';
import type { ApiRequest, Exchange, ResponseSink } from '@taintmgr/sim-cluster';
import type { LoopOptions } from '../../src/controller/engine-loop.ts';
import type { PolicyState } from '../../src/controller/takeover/installer.ts';
import type { TakeoverSabotage } from './sabotage.ts';
import { asUser, ourAgent, ourUser } from './users.ts';

const manager = 'taintmgr';
const policyPath = /\/validatingadmissionpolic(ies|ybindings)\/taintmgr-/;

/** It keeps the policies, and publishes that it decides, and whose readiness is held. */
export function takingOver(
  engine: Engine,
  identity: string,
  policies: () => PolicyState | null,
  { installs, publishes, holdsReadiness, decides = true }: TakeoverSabotage = {},
): Pick<LoopOptions, 'publish' | 'takeover'> {
  const hold = () => {
    if (holdsReadiness === false) return null;
    const all = { reason: 'for ever', all: true, zones: [], nodes: [] };
    return holdsReadiness ? all : (engine.takeover()?.readinessHold ?? null);
  };
  const status = () => {
    const holdReadiness = hold();
    const takeover = {
      enabled: decides && mayDecide(policies()),
      ...(holdReadiness && { holdReadiness }),
    };
    return { takeover, conditions: [] };
  };
  const policyCounts = (now: number) => engine.policyCounts(now);
  return {
    ...(publishes !== false && { publish: { name: manager, identity, status, policyCounts } }),
    ...(installs !== false && { takeover: { manager } }),
  };
}

/** As the program says it: where the policies cannot be what they should be, nobody decides. */
function mayDecide(policies: PolicyState | null): boolean {
  if (!policies) return true;
  const { isInForce, wasInForce, drift, fault } = policies;
  return isInForce || wasInForce || (drift.length === 0 && fault === null);
}

/** Its line to the API server, on which it is who the policies exempt. */
export function ourLine(exchange: Exchange, sabotage: TakeoverSabotage = {}): Exchange {
  const line = asUser(exchange, ourUser, ourAgent);
  const { policies, mends } = sabotage;
  const told = policies ? rewritten(line, policies) : line;
  return mends === false ? unmended(told) : told;
}

/** Policies are stored otherwise than it thinks, and read as it thinks. */
function rewritten(line: Exchange, [right, wrong]: readonly [string, string]): Exchange {
  return (request, sink) => {
    if (!policyPath.test(request.path)) return line(request, sink);
    const change = (text: ApiRequest['body'], from: string, to: string) =>
      typeof text === 'string' ? text.replaceAll(from, to) : text;
    const heard: ResponseSink = {
      ...sink,
      data: (chunk) => sink.data(change(chunk, wrong, right) ?? ''),
    };
    return line({ ...request, body: change(request.body, right, wrong) }, heard);
  };
}

/** It looks at its policies once, and believes that they are as they were. */
function unmended(line: Exchange): Exchange {
  const known = new Map<string, string>();
  return (request, sink) => {
    const { method, path } = request;
    if (!policyPath.test(path)) return line(request, sink);
    const text = method === 'GET' ? known.get(path) : undefined;
    if (text !== undefined) {
      sink.head(200, { 'content-type': 'application/json' });
      sink.data(text);
      sink.end();
      return () => {};
    }
    return line(request, {
      ...sink,
      data: (chunk) => {
        const key = path.replace(/\?.*/, '');
        if (method === 'PATCH' && String(chunk).includes('"spec"')) known.set(key, String(chunk));
        sink.data(chunk);
      },
    });
  };
}
