// The values of surveys that the adapter's tests have.
// @boundaries-ignore tests of both packages make up the same surveys
export * from '../../../../packages/k8s-adapter/test/world/values.ts';
