// @boundaries-ignore ports are handed out by one rule for every package
export { freePort } from '../../../../packages/k8s-adapter/test/world/free-port.ts';
