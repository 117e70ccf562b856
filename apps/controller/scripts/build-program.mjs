// Makes the controller one program, for this machine or for a platform that scripts/make-program.mjs knows.
// Prints the path of the program.
//
//   node apps/controller/scripts/build-program.mjs PROGRAM [PLATFORM]
import { makeWithParts } from '../../../scripts/program-with-parts.mjs';

// Most of the code, and what few need: --simulate, logins by plugins of clouds, the page.
makeWithParts('apps/controller', {
  'sim-cluster': 'packages/sim-cluster/src/index.ts',
  'plugin-login': 'packages/k8s-adapter/src/kubeconfig/plugin-login.ts',
  page: 'packages/page/src/index.ts',
});
