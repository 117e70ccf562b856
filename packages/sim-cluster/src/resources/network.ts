// Services, and where their endpoints are.
import { admitEndpointSlice, admitNewService, admitService } from '../defaults/service.ts';
import * as network from '../schema/network.ts';
import { validateService, validateServiceUpdate } from '../validation/service.ts';
import { defineResource, type Resource, statusSubresource } from './resource.ts';

/** Services, Endpoints and EndpointSlices. */
export const networkResources: readonly Resource[] = [
  defineResource({
    group: '',
    plural: 'endpoints',
    kind: 'Endpoints',
    singular: 'endpoints',
    shortNames: ['ep'],
    schema: network.endpoints,
    deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  }),
  defineResource({
    group: '',
    plural: 'services',
    kind: 'Service',
    singular: 'service',
    shortNames: ['svc'],
    categories: ['all'],
    showsDeleted: true,
    schema: network.service,
    subresources: [statusSubresource],
    admit: admitNewService,
    derive: admitService,
    validate: validateService,
    validateUpdate: validateServiceUpdate,
  }),
  defineResource({
    group: 'discovery.k8s.io',
    plural: 'endpointslices',
    kind: 'EndpointSlice',
    singular: 'endpointslice',
    schema: network.endpointSlice,
    generation: true,
    admit: admitEndpointSlice,
    derive: admitEndpointSlice,
  }),
];
