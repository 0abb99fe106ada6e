import { DEPLOY_CONFIG } from '../deploy-config.ts'
import type { StoreConfig } from '../stores-config.ts'
import type { Commands } from './commands.ts'

/**
 * Applies pending migrations to the databases of stores, one after the other. The code that runs meanwhile works on
 * both schemas, because migrations only add. The first one that fails ends the script, which then says which store it
 * was.
 */
export async function migrateStores(commands: Commands, stores: readonly StoreConfig[]): Promise<void> {
  for (const [i, { number, binding, database }] of stores.entries()) {
    const failed = `Store ${number} (database ${database}) was not migrated.
Migrated: ${numbersOf(stores.slice(0, i))}. Not tried: ${numbersOf(stores.slice(i + 1))}.`
    await commands.change(['d1', 'migrations', 'apply', binding, '--remote', '--config', DEPLOY_CONFIG], { failed })
  }
}

function numbersOf(stores: readonly StoreConfig[]): string {
  return stores.length === 0 ? 'none' : stores.map(({ number }) => number).join(', ')
}
