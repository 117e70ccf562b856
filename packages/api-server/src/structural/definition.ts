// A CustomResourceDefinition as the server reads it.
import type { KubeObject } from '@taintmgr/sim-cluster/server';
import type { JsonSchema } from './json-schema.ts';

export interface DefinitionNames {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/** The JSON paths of an object's desired and current replicas, and of its selector. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: {
    readonly status?: object;
    readonly scale?: ScalePaths;
  };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface DefinitionCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** A definition with its parts typed. */
export interface Definition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: DefinitionNames;
    readonly scope: string;
    readonly versions: readonly DefinitionVersion[];
    readonly conversion?: { readonly strategy?: string; readonly webhook?: unknown };
    readonly preserveUnknownFields?: boolean;
  };
  readonly status?: {
    readonly conditions?: readonly DefinitionCondition[] | null;
    readonly acceptedNames?: DefinitionNames;
    readonly storedVersions?: readonly string[];
  };
}

/** The condition of a type, if the definition has it. */
export function conditionOf({ status }: Definition, type: string): DefinitionCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** True if a condition of the definition holds. */
export function holds(definition: Definition, type: string): boolean {
  return conditionOf(definition, type)?.status === 'True';
}
