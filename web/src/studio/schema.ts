// What there is to edit (GET /api/schema).
export type MemberType = 'boolean' | 'integer' | 'number' | 'vector' | 'cells' | 'text' | 'choice' | 'colour' | 'rotation'
    | 'object' | 'list' | 'texts' | 'vectors' | 'attributes' | 'json';

export interface Member {
    number: number;
    name: string; // "transform.position"
    type: MemberType;
    unit: string;
    help: string;
    default: unknown;
    required: boolean;
    server: boolean;
    can_set: boolean;
    low?: number;
    high?: number;
    choices?: string[];
}

export interface Schema {
    mark: number;
    kinds: Record<'settings' | 'scene' | 'terrain' | 'entity', Member[]>;
}

// The value of a member in a record, or what it is by default.
export function valueOf(record: Record<string, unknown>, member: Member): unknown {
    let value: unknown = record;
    for (const part of member.name.split('.')) {
        value = (value as Record<string, unknown> | undefined)?.[part];
    }
    return value ?? member.default;
}
