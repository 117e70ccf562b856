import process from 'node:process';
import { createEngine } from '@taintmgr/core';
import { drive, HttpTransport, Loop, loadKubeconfig } from '@taintmgr/k8s-adapter';

const { access } = await loadKubeconfig(); // as kubectl: KUBECONFIG, ~/.kube/config, or in a pod
const transport = new HttpTransport(access, 'my-program/1.0');
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());

await drive({
  loop: new Loop({ machine: createEngine(), random: Math.random }),
  transport,
  signal: stop.signal,
  onNotice(notice) {
    if (notice.kind === 'synced') console.log('everything is read, evictions start');
    if (notice.kind !== 'commandFinished') return;
    console.log(notice.command.kind, notice.command.pod.name, notice.outcome.kind);
  },
});
transport.close();
