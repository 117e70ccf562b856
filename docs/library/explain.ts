import process from 'node:process';
import { ApiError, ConnectionError, KubeconfigError, loadKubeconfig } from '@taintmgr/k8s-adapter';
import { explainNode, explainWorkload } from '@taintmgr/k8s-adapter/explain';

const [node] = process.argv.slice(2);
const { access, namespace } = await loadKubeconfig().catch(end);
const asked = node
  ? explainNode(access, node)
  : explainWorkload(access, { kind: 'StatefulSet', namespace, name: 'db' });
const { document, notes } = await asked.catch(end);

for (const pod of document.pods ?? []) {
  const [reason] = pod.because;
  const when = pod.deadline === undefined ? '' : ` at ${pod.deadline}`;
  console.log(`${pod.name} on ${pod.node}: ${pod.decision}${when}: ${reason?.text}`);
  for (const { message } of pod.blockers) console.log(`  ${message}`);
}
console.log(`evicted by ${document.evictor.name} (${document.evictor.source})`);
for (const text of [...notes.warnings, ...notes.notes]) console.error(text);

/** The message says what to do; any other error is a bug. */
function end(error: Error): never {
  const kinds = [ApiError, ConnectionError, KubeconfigError];
  if (!kinds.some((kind) => error instanceof kind)) throw error;
  console.error(error.message);
  process.exit(1);
}
