// Modules that vite.config.ts makes while it builds.
declare module 'virtual:script-api' {
    import type { ApiTable } from '../../../api_table.ts';

    const table: ApiTable;
    export default table;
}
