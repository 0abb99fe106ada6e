import { OPENS_AFTER_MS } from '../../../src/stores/limits.ts'
import { Commands } from '../deploy/commands.ts'
import { migrateStores } from '../deploy/migrate.ts'
import { ensureDatabases, ensureQueues, requireLogin } from '../deploy/resources.ts'
import { DEPLOY_CONFIG, deployText, ownOf, trackedText, writeDeployConfig, writeTracked } from '../deploy-config.ts'
import { preparedStores, prepareLocal } from '../prepare.ts'
import { boundStores, storesIn, withStores } from '../stores-config.ts'
import { fail } from '../terminal.ts'
import { numbersIn, readDirectory, remoteStores } from './deployment.ts'

/**
 * Adds a store to wrangler.toml and makes its local database; with `remote` also its database and queue in the account.
 * If a store was begun and is not complete, that store is finished instead, so the command can be repeated after a
 * failure.
 */
export async function addStore(remote: boolean, jurisdiction: string | undefined): Promise<void> {
  const known = remote ? numbersIn(await readDirectory(remoteStores().target)) : []
  const begun = remote ? undeployed(known) : unprepared()
  const [first] = begun
  if (first === undefined) {
    await prepareLocal()
    const number = next(known)
    writeTracked(withStores(trackedText(), [number]))
    begun.push(number)
    console.log(`Added store ${number} to wrangler.toml: a database and a queue. Commit that file.`)
  } else {
    console.log(`Finishing store ${begun.join(', ')}, which is already in wrangler.toml.`)
  }
  await prepareLocal()
  if (remote) await createRemote(begun, jurisdiction)
  const local = remote ? '' : ' Restart npm start to use it there.'
  console.log(`
Store ${begun.join(', ')} is ready.${local}
Next: npm run deploy, which binds it. It will take projects ${OPENS_AFTER_MS / 60_000} minutes after the cron first sees it.`)
}

/** The stores that have no local database yet, in a checkout that has some. */
function unprepared(): number[] {
  const prepared = preparedStores()
  return prepared === null ? [] : boundStores(trackedText()).filter((number) => !prepared.includes(number))
}

/** The stores that the cron of the deployment has not seen. */
function undeployed(known: readonly number[]): number[] {
  return boundStores(trackedText()).filter((number) => number > 0 && !known.includes(number))
}

/** The next number. Numbers that were ever used are in ids of projects and connections, and in secrets of keys. */
function next(known: readonly number[]): number {
  const deployed = deployText()
  const used = [...boundStores(trackedText()), ...(deployed === null ? [] : boundStores(deployed)), ...known]
  return Math.max(...used) + 1
}

/** Makes the databases and queues of stores, notes the ids where npm run deploy keeps them, and migrates. */
async function createRemote(numbers: readonly number[], jurisdiction: string | undefined): Promise<void> {
  const deployed = deployText()
  if (deployed === null) fail(`${DEPLOY_CONFIG} is missing. Run npm run deploy first.`)
  const commands = new Commands(false)
  await requireLogin(commands)
  const all = storesIn(trackedText())
  const added = all.filter(({ number }) => numbers.includes(number))
  await ensureQueues(
    commands,
    added.map(({ queue }) => queue),
  )
  const databases = await ensureDatabases(commands, all, jurisdiction)
  writeDeployConfig({ ...ownOf(deployed), databases })
  await migrateStores(commands, added)
}
