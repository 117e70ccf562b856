// SECURITY.md: each row of its tables is proved by tests that are there, by file and title.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const root = new URL('../../', import.meta.url);

/** For each row of SECURITY.md the tests that prove it. */
const proofs: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'open 1,000 connections and send nothing': {
    'apps/controller/test/server/connections.test.ts': [
      'make room for one who speaks, the oldest of them first',
      'are ended when their time for the handshake is over',
      'cannot push out somebody who has said who he is, while he asks',
    ],
  },
  'with a token, take all connections and read no answer': {
    'apps/controller/test/server/known-crowd.test.ts': [
      'keeps no place from another one by answers that it does not take',
      'makes room before another one that waits for its next request',
    ],
  },
  'send a handshake or a request very slowly': {
    'apps/controller/test/server/connections.test.ts': [
      'is given up, however slowly it goes on',
      'never comes is ended',
      'is ended soon after its last answer',
    ],
  },
  'begin handshakes as fast as they can': {
    'apps/controller/test/rate-limit/rate-limit.test.ts': [
      'lets peers through in turns, whoever has come how often',
    ],
  },
  'send bytes that are neither TLS nor HTTP, or hang up halfway': {
    'apps/controller/test/server/connections.test.ts': ['do no harm to a server that speaks'],
  },
  'send without end: empty lines, headers, a body, requests': {
    'apps/controller/test/server/connections.test.ts': [
      'is hung up on soon, with',
      'is hung up on before TLS begins',
    ],
    'apps/controller/test/server/paced.test.ts': ['little of'],
  },
  'pipeline hundreds of requests': {
    'apps/controller/test/server/connections.test.ts': [
      'are read as far as the first of them, and the API server is asked of few',
      'of somebody unknown carries one request',
      'of somebody known carries many, one after the other',
    ],
  },
  'send random tokens': {
    'apps/controller/test/server/reviews.test.ts': [
      'are bounded as SECURITY.md says',
      'of a new token of somebody who was let in are made however many strangers come',
      'of one who was let in with many tokens leave room for the others',
      'of those who were let in of late are made however many strangers come',
      'of strangers that hang leave room for those who were let in',
      'are made once for all who ask the same at the same time',
      'that fail are not made again for a second',
    ],
  },
  'make it log': {
    'apps/controller/test/server/reviews.test.ts': [
      'are written at once, and then every ten seconds with a count',
    ],
  },
  'starve the probes, so that kubelets restart it': {
    'apps/controller/test/server/connections.test.ts': ['the same bounds hold'],
    'apps/controller/test/server/health-port.test.ts': [
      'says over HTTP whether it is well, and nothing else',
    ],
    'apps/controller/test/deploy/kustomize.test.ts': [
      'have probes on the port that is health alone',
    ],
  },
  'ask for health in full (`?verbose`)': {
    'apps/controller/test/server/health-port.test.ts': [
      'names nobody for whom a limit has tripped, who is told of it elsewhere',
    ],
  },
  'read metrics, flags, explanations': {
    'apps/controller/test/server/gate.test.ts': [
      'lets nobody in while the API server is away, but to what is open',
    ],
  },
  'open `/ui`': {
    'apps/controller/test/process/run-process.test.ts': ['is for whom the API server lets read it'],
    'apps/controller/test/server/live/page.test.ts': [
      'gives who has the state only its time, and what changed when something did',
    ],
  },
  'connect from an unrelated namespace': {
    'apps/controller/test/deploy/kustomize.test.ts': [
      'let nobody in but to health, and to metrics from the namespaces that collect them',
    ],
  },
  'give pods odd tolerations, times, names, sizes': {
    'packages/core/test/hostile.test.ts': [
      'no object makes the engine throw, or ask to be woken at no time',
    ],
  },
  'bind many pods to a tainted node, so that a limit trips or is exhausted': {
    'packages/core/test/eviction/limits/limit-gate.test.ts': [
      'is not used up by pods that a tenant binds to a tainted node, nor tripped',
      'is shared between namespaces in turn, however many pods one of them has',
    ],
    'tools/oracle/test/overdue.test.ts': ['those that came after it do not count, and have to go'],
  },
  'mark their pods as mirrors of static pods, which are never evicted': {
    'packages/k8s-adapter/test/proto/convert.test.ts': [
      'nobody controls it, as anybody may make it',
      'another node controls it',
    ],
  },
  'read what the role `view` of the whole cluster reads, to which `taintmgr-viewer` is aggregated':
    {
      'apps/kubectl-taintmgr/test/commands/rights.test.ts': [
        'is aggregated to view, and reads kinds of ours, the history and nothing else',
      ],
    },
  'evict pods of their own without end, so that nobody remembers those of others': {
    'packages/k8s-adapter/test/controller/history/witness.test.ts': [
      'keeps a thousand an hour of a namespace, and says how many more there were',
    ],
  },
  'ask about pods without the right to read nodes': {
    'apps/kubectl-taintmgr/test/commands/rights.test.ts': [
      'is told what is known of a pod, and what is not',
    ],
  },
  'put characters into names and messages that steer a terminal, or hide or reorder text': {
    'apps/kubectl-taintmgr/test/commands/explain/node-table.test.ts': [
      'makes names harmless that would steer a terminal',
    ],
    'apps/controller/test/server/server.test.ts': ['answers with nothing that steers a terminal'],
    'packages/k8s-adapter/test/proto/event-requests.test.ts': [
      'quote what others have written on one line, in which nothing steers a terminal',
    ],
  },
  'make a page of a list larger than the reader accepts': {
    'packages/k8s-adapter/test/client/large-pages.test.ts': [
      'is hung up on and asked for again with half the limit, where it stood',
    ],
  },
  'set the largest int64 as a time': {
    'packages/k8s-adapter/test/proto/json.test.ts': ['has every digit it was read with'],
  },
  'answer a stats request with 230 MB': {
    'packages/k8s-adapter/test/pressure/summary-poller.test.ts': [
      'hangs up on a node that says too much, and lets it be for a while',
    ],
  },
  'send summaries that are false, old, or of another node': {
    'packages/k8s-adapter/test/controller/pressure-sources.test.ts': [
      'no eviction, and the reason is told; once they are good again, the pod goes',
    ],
    'packages/core/test/pressure/hostile.test.ts': [
      'precise evicts only by samples that can be true, and pods that use something',
    ],
  },
  'leave or write an annotation that says since when a taint counts': {
    'apps/kubectl-taintmgr/test/commands/explain/explain.test.ts': [
      'does not believe the annotation about a taint that was put on again since',
    ],
  },
  'use the token that it receives': {
    'packages/k8s-adapter/test/client/kubelets.test.ts': [
      'come from the kubelet, which is shown the token of another service account',
    ],
    'apps/controller/test/pressure/kubelets.test.ts': [
      'the controller asks kubelets over TLS, and shows them a token that is not its own',
    ],
    'apps/controller/test/deploy/kustomize.test.ts': [
      'show kubelets the token of an account that may read summaries and nothing else',
    ],
  },
  'impersonate another kubelet': {
    'packages/k8s-adapter/test/client/kubelets.test.ts': [
      'are not asked of whoever has no certificate of that authority',
    ],
  },
  'write other annotations that we trust: `taintmgr.dev/owned-taints`, `deadline`, `drain`': {
    'packages/core/test/lifecycle/condition-rules.test.ts': [
      'claims no taint that does not say since when',
    ],
    'apps/controller/test/deploy/guard-annotations.test.ts': ['refuses a kubelet that'],
  },
  'put control characters, or commands for a shell, into the mark of a drain': {
    'apps/kubectl-taintmgr/test/commands/drain-by-taint/carry-out.test.ts': [
      'is shown as escapes, on one line',
      'is no command for a shell in the hint that names it',
    ],
  },
  'report that a pod was bound in the future, so that it stays': {
    'packages/core/test/eviction/machine.test.ts': ['knows the same deadlines after any history'],
  },
  'set a clock, or suspend a machine': {
    'packages/k8s-adapter/test/controller/clock/clock-steps.test.ts': [
      'is told, and the leader that may have overslept leads anew',
      'alone, for an hour that it does not count: overdue pods go, no other does',
    ],
  },
  'taint every node, or declare every node as drained, so that the controller evicts itself': {
    'packages/core/test/own-replicas.test.ts': [
      'keeps one replica that works, and in calm has none where it may not be',
      'the labels of ours make no replica in another namespace',
      'a pod of another controller does not stand in for ours',
      'says that it waits for another replica, and takes the last one then',
    ],
  },
  'take the lease while requests are in flight': {
    'packages/k8s-adapter/test/controller/procedures/engine.test.ts': [
      'that does not lead sends none',
      'while request',
    ],
  },
  'make the controller restart, or its lease move to another replica, so that limits start from zero':
    {
      'apps/controller/test/process/run-controller.test.ts': [
        'stops at a limit that trips, stays so after a restart, and goes on when it is resumed',
      ],
      'packages/k8s-adapter/test/seeds/eviction-sabotages.ts': [
        'forgets the window when it starts anew',
      ],
    },
  'resume a limit that has tripped': {
    'apps/kubectl-taintmgr/test/commands/resume.test.ts': [
      'resumes what has tripped, and nothing else',
    ],
    'apps/controller/test/processes/rights.test.ts': ['are enough and not too many'],
  },
  'run kube-controller-manager, or another taintmgr, for the same taints': {
    'apps/controller/test/overlap/foreign-evictions.test.ts': [
      'are not made of a mark of ours by rewriting managedFields, as whoever may patch a pod can',
    ],
    'packages/k8s-adapter/test/evictors/judge.test.ts': [
      'keeps no NodeDrain of an installation from its work, alive or not',
      'says nothing of what that one runs',
      'hides none of the control plane by another label, and is not hidden by another label itself',
    ],
    'packages/k8s-adapter/test/client/find-evictors.test.ts': [
      'that we may not read is unknown, never nobody',
    ],
    'packages/k8s-adapter/test/evictors/verdict-words.test.ts': [
      'is taintmgr-controller, in whatever namespace it runs, where its TaintManager names it',
    ],
  },
  'evict for the taint that a drain sets': {
    'apps/kubectl-taintmgr/test/commands/drain-by-taint/outcome.test.ts': [
      'by default breaks no budget: the effect is one for which no other controller evicts',
      'a NoExecute drain that is not forced is refused',
    ],
  },
  'evict pods that a budget protects, beside a controller with `--allow-overlap`': {
    'apps/controller/test/overlap/foreign-evictions.test.ts': [
      'are told once, with whose program it was',
      'tell what held the pod back, of one that we have asked for in vain',
    ],
  },
  'delete a pod that is being drained': {
    'apps/kubectl-taintmgr/test/commands/drain-by-taint/outcome.test.ts': [
      'a forced NoExecute drain stops at the first deletion that is not its own',
    ],
  },
  'answer nonsense, go away, cut connections': {
    'apps/controller/test/process/bad-api-server.test.ts': [
      'goes away is told with what is tried next, and found again',
    ],
    'packages/k8s-adapter/test/transport/http-transport.test.ts': [
      'tells an answer cut off in the middle',
    ],
  },
  'send without end: a list, a page, events, announcements of an answer, headers, frames that bring nothing':
    {
      'packages/k8s-adapter/test/proto/reflector-state.test.ts': [
        'is given up after as many events as pages may have objects, and read in pages',
        'is given up when no event comes, though bytes do, and is none that is complete',
      ],
      'packages/k8s-adapter/test/transport/http2/frames.test.ts': [
        'ends its own stream',
        'end with the connection where they bring nothing',
        'is left',
      ],
      'packages/k8s-adapter/test/transport/http1.test.ts': [
        'an answer over HTTP/1.1 that is announced without end',
      ],
    },
  'impersonate the API server': {
    'packages/k8s-adapter/test/transport/http-transport.test.ts': ['TLS'],
  },
  'use it': {
    'apps/controller/test/processes/rights.test.ts': ['are enough and not too many'],
  },
  '`patch` nodes (all modes that act): set an owner that does not exist, so that the garbage collector deletes the node; change labels, annotations of others, finalizers, providerID':
    {
      'apps/controller/test/deploy/guard-annotations.test.ts': [
        'an owner of a node',
        'a label of a node',
        'a system that the node does not have',
        'the provider of a node',
      ],
    },
  '`patch` nodes/status (`node-lifecycle`, `node-pressure`, `node-conditions`): redirect connections to a kubelet by the addresses of its node':
    {
      'apps/controller/test/deploy/guard-annotations.test.ts': ['the address of a node'],
    },
  "`patch` pods/status (mode `delete`, `deletions`, `node-lifecycle`, `node-pressure`): redirect the traffic of a Service by the pod's IP or labels, satisfy a readiness gate":
    {
      'apps/controller/test/deploy/guard-annotations.test.ts': [
        'the IP of a pod',
        'the labels of a pod',
        'a readiness gate',
      ],
    },
  '`patch` events (all modes that act): rewrite an Event of another component': {
    'apps/controller/test/deploy/guard-annotations.test.ts': [
      'an Event of others',
      'an Event of kube-controller-manager',
    ],
  },
  '`patch` nodedrains (`node-drains`): drain other nodes, keep a drain from being deleted': {
    'apps/controller/test/deploy/guard-annotations.test.ts': [
      'what a drain drains',
      'a finalizer of others on a drain',
    ],
  },
  '`patch` deployments (`rollout-restart`): run a privileged container as any service account': {
    'apps/controller/test/deploy/guard-annotations.test.ts': [
      'a privileged container',
      'another service account',
      'the scale',
    ],
  },
  'write a ValidatingAdmissionPolicy that refuses everybody everything': {
    'apps/controller/test/processes/rights.test.ts': ['are enough and not too many'],
  },
  'lift the guard': {
    'apps/controller/test/deploy/guard-annotations.test.ts': [
      'are out of reach of the account that they guard',
    ],
  },
  'get out of the container': {
    'apps/controller/test/deploy/kustomize.test.ts': ['are what Pod Security calls restricted'],
  },
  'open the port of the live page: another user of the machine, a page of another site, a name that leads to 127.0.0.1':
    {
      'apps/kubectl-taintmgr/test/commands/web/session.test.ts': [
        'lets in whoever has its address, once, and then by the cookie alone',
        'another Host',
        'a page of another port',
        'with 405, also from whoever is let in',
      ],
    },
  'read the arguments of the browser that `--open` starts': {
    'apps/kubectl-taintmgr/test/commands/web/open.test.ts': [
      'opens the page through a file for its owner alone, which is gone when it is used',
    ],
  },
  'open connections and say nothing, or ask in vain': {
    'apps/kubectl-taintmgr/test/commands/web/server.test.ts': ['is there for whoever comes next'],
  },
  'open many windows, or read slowly': {
    'apps/kubectl-taintmgr/test/commands/web/streams.test.ts': [
      'are eight at most',
      'give one who is slow the last state, and not all in between',
    ],
  },
  'put markup into names': {
    'apps/kubectl-taintmgr/test/commands/web/web.test.ts': ['may run nothing but what is in it'],
  },
  'read a log of the controller': {
    'apps/controller/test/processes/main.test.ts': [
      'says what is tried again when nobody answers, until SIGTERM, and logs no secret',
    ],
  },
  'read a message about a kubeconfig, a proxy, a plugin': {
    'packages/k8s-adapter/test/kubeconfig/entries.test.ts': [
      'that is in a proxy variable, or an option',
    ],
    'packages/k8s-adapter/test/kubeconfig/exec-login.test.ts': [
      'come from a plugin whose output no message repeats',
    ],
  },
  'listen where the API server is asked over plain http': {
    'apps/kubectl-taintmgr/test/cli/connection.test.ts': ['--token=t'],
    'packages/k8s-adapter/test/kubeconfig/kubeconfig.test.ts': ['exec'],
  },
  'answer 200 in the place of the API server: a login page, a gateway': {
    'apps/kubectl-taintmgr/test/cli/connection.test.ts': ['it ends:'],
    'packages/k8s-adapter/test/proto/answer.test.ts': ['is an error:'],
  },
  'let a credential plugin hang': {
    'packages/k8s-adapter/test/kubeconfig/exec-login.test.ts': [
      'do not come from a plugin that hangs: it ends, and what it has started, with the command',
    ],
  },
  'send SIGUSR1 to open a debugger': {
    'apps/controller/test/processes/main.test.ts': ['opens no debugger on SIGUSR1'],
  },
  'read records on a shared machine': {
    'apps/controller/test/flight/recorder.test.ts': [
      'is for nobody else any more',
      'leaves nothing to whoever had the file open before',
    ],
    'apps/kubectl-taintmgr/test/commands/simulate/simulate.test.ts': ['is for its owner alone'],
  },
  'put a link in the place of a record or report': {
    'apps/controller/test/flight/recorder.test.ts': ['is not followed, with'],
  },
  'put a pipe there, or a link to one': {
    'packages/k8s-adapter/test/client/private-file.test.ts': [
      'is no pipe of another user, also behind a link',
    ],
  },
  'create names that a shell completes': {
    'apps/kubectl-taintmgr/test/commands/completion.test.ts': [
      'are of drains only as drains name themselves',
      'are of contexts only what steers no terminal',
    ],
  },
  'pass on a snapshot': {
    'apps/kubectl-taintmgr/test/commands/snapshot/snapshot.test.ts': ['names no secret'],
  },
  'pass on a flight record': {
    'apps/controller/test/flight/recorder.test.ts': [
      'leaves out what others have written into messages',
    ],
  },
  'give `simulate` a recording that is broken, or unpacks to more than it declares': {
    'apps/kubectl-taintmgr/test/commands/simulate/replay/replay.test.ts': [
      'that is broken is not played',
      'that unpacks to a line without an end is not read to its end',
    ],
  },
  'move the tag of a base image': {
    'apps/controller/test/deploy/dockerfile.test.ts': [
      'is built on images with their digests alone',
    ],
  },
  'replace a package, or make one run a script': {
    'apps/controller/test/deploy/dockerfile.test.ts': [
      'has installed what the lockfile says, or does not go on',
      'builds with the scripts there are',
    ],
  },
  'bring a package with a license that we may not pass on': {
    'scripts/test/release/bundled.test.ts': ['have licenses that are allowed, all of them'],
  },
  'change what was made before it is published': {
    'scripts/test/release/artifacts.test.ts': ['is listed, and read again only as it was listed'],
  },
  'publish from the script of a package': {
    'scripts/test/workflows.test.ts': [
      'a release gives rights to one job, after an approval, which runs no scripts of packages',
    ],
  },
  'move a tag between push and signature': {
    'scripts/test/release/publish.test.ts': [
      'are signed by the digests that were pushed, and named so by the release',
    ],
  },
  'put a command into an input of a workflow or of the action, or into a name of a manifest': {
    'scripts/test/action.test.ts': [
      'hands each input to its script, and nothing into the script',
      'takes nothing of a manifest for a command, for Markdown or for HTML',
    ],
    'scripts/test/workflows.test.ts': ['gives no job a right that the job does not name'],
  },
};

/** The titles of tests, and what else begins like them, as they are written in a file. */
const title = /\b(?:it|describe)\(\s*(['"`])(.*?)\1,/gs;

function titlesIn(source: string): readonly string[] {
  return Array.from(source.matchAll(title), ([, , one = '']) => one);
}

describe('the tests that prove a row of SECURITY.md', () => {
  for (const [deed, files] of Object.entries(proofs)) {
    it(deed, () => {
      for (const [path, titles] of Object.entries(files)) {
        const source = readFileSync(new URL(path, root), 'utf8');
        const found = titlesIn(source);
        for (const wanted of titles) {
          // A whole string is the title of a case in a table.
          const isThere =
            found.some((one) => one.includes(wanted)) || source.includes(`'${wanted}'`);
          assert.ok(isThere, `${path} has no test "${wanted}"`);
        }
      }
    });
  }

  it('are there for all rows', () => {
    const page = readFileSync(new URL('SECURITY.md', root), 'utf8');
    const section = page.slice(page.indexOf('## Who can do'), page.indexOf('## What is not'));
    const rows = Array.from(
      section.matchAll(/^\| (?!what they do)(.*?) \| /gm),
      ([, deed]) => deed,
    );
    assert.deepEqual(rows, Object.keys(proofs));
  });
});
