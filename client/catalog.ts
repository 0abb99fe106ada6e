/*
 * node catalog.ts pull | diff | push --url ORIGIN --project ID --token KEY: keeps the catalog of a project in a file that people edit. What is
 * pushed is written as a whole or not at all, and not over what somebody else has changed.
 */
import { parseArgs } from 'node:util'
import type { CatalogWrites } from 'platform-api-client'
import { type CatalogApi, newCatalogApi, Refusal } from './catalog/api.ts'
import { type CatalogOnDisk, readCatalog, readPriceMap, saveVersion, withPrices, writeCatalog } from './catalog/file.ts'
import { differences, people } from './catalog/show.ts'

const USAGE = `Usage: npm run catalog -- pull | diff | push --url ORIGIN --project ID [--from FILE] [--token KEY]
In the client package: node catalog.ts, with the same options.

  pull            write the catalog of the project into the file
  diff            show what a push would change, and which features consumers would gain and lose
  push            make the catalog what the file says, in one transaction

  --url ORIGIN    the service, such as https://api.example.com
  --project ID    the project
  --from FILE     the file (default: catalog.json)
  --token KEY     an API key with the scope catalog:read, and for push also catalog:write, and projects:write if settings change (default: $API_KEY)
  --prices FILE   a JSON object that maps each price in the file to the price to write, for a project with another account at the vendor
  --accept-losses push even if consumers lose features, or get less of them
  --force         pull: replace a file that differs from the catalog. push: also overwrite changes made since the pull

Exit codes: 0 done, or nothing to change. 1 an error. 2 diff: there are differences. 3 push: the catalog has changed since the pull, or the file was never pulled from this project.
4 push: consumers would lose something.`

const EXIT = { different: 2, changed: 3, losses: 4 } as const

try {
  process.exitCode = await main()
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message : String(error)}`)
  if (error instanceof Refusal)
    for (const { pointer, message } of error.errors) console.error(`  ${pointer} ${message}`)
  process.exitCode = 1
}

type Options = ReturnType<typeof readOptions>

async function main(): Promise<number> {
  const options = readOptions()
  const api = newCatalogApi({ ...options, say: console.error })
  if (options.command === 'pull') return pull(api, options)
  const file = readCatalog(options.from)
  const document =
    options.prices === undefined ? file.document : withPrices(file.document, readPriceMap(options.prices))
  const { version, losses, isSame } = await show(api, document)
  if (isSame) {
    saveVersion(file, options.project, version)
    return 0
  }
  const pulled = file.versions[options.project]
  if (pulled !== version) {
    const since =
      pulled === undefined
        ? 'This file was never pulled from this project'
        : 'The catalog has changed since the file was pulled'
    console.log(`\n${since}: a push would undo the changes that the file does not have.`)
  }
  if (options.command === 'diff') return EXIT.different
  if (pulled !== version && !options.force) {
    console.error('\nNot pushed. Pull into another file and merge, or push with --force.')
    return EXIT.changed
  }
  if (losses > 0 && !options.acceptLosses) {
    console.error('\nNot pushed, because consumers would lose something. Push with --accept-losses if this is meant.')
    return EXIT.losses
  }
  return push(api, { file, document, version, project: options.project })
}

async function pull(api: CatalogApi, { from, url, project, force }: Options): Promise<number> {
  const { version, ...document } = await api.read()
  writeCatalog(from, { document, version, project, schema: `${url}/catalog.schema.json`, force })
  console.log(`${from} has ${counted(document.features, 'feature')} and ${counted(document.plans, 'plan')}.`)
  return 0
}

/** Shows what a push would change. `losses`: how often a consumer would lose something. */
async function show(api: CatalogApi, document: unknown): Promise<{ version: string; losses: number; isSame: boolean }> {
  const preview = await api.preview(document)
  const { version, writes } = preview
  if (isNothing(writes)) {
    console.log('Nothing to change: the catalog is what the file says.')
    return { version, losses: 0, isSame: true }
  }
  for (const line of differences(await api.read(), document as CatalogOnDisk['document'], writes.settings))
    console.log(line)
  for (const line of people(preview)) console.log(line)
  const losses = Object.values(preview.losses).reduce((sum, n) => sum + n, 0)
  return { version, losses, isSame: false }
}

type Push = { file: CatalogOnDisk; document: unknown; version: string; project: string }

async function push(api: CatalogApi, { file, document, version, project }: Push): Promise<number> {
  try {
    saveVersion(file, project, (await api.write(document, version)).version)
    console.log('\nPushed.')
    return 0
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'precondition_failed') throw error
    // An earlier attempt may have been written although its answer was lost.
    const now = await api.preview(document)
    const isWritten = isNothing(now.writes)
    if (!isWritten) console.error('\nNot pushed: somebody has just changed the catalog. Try again.')
    else {
      saveVersion(file, project, now.version)
      console.log('\nPushed.')
    }
    return isWritten ? 0 : EXIT.changed
  }
}

function counted(all: object, what: string): string {
  const n = Object.keys(all).length
  return n === 1 ? `1 ${what}` : `${n} ${what}s`
}

function isNothing(writes: CatalogWrites): boolean {
  return Object.values(writes).every((one) => Object.values(one).flat().length === 0)
}

function readOptions() {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const options = {
    ...{ url: text, project: text, token: text, prices: text, from: { ...text, default: 'catalog.json' } },
    ...{ 'accept-losses': flag, force: flag, help: flag },
  }
  let parsed: ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>
  try {
    parsed = parseArgs({ options, allowPositionals: true })
  } catch (error) {
    return misused((error as Error).message)
  }
  const { values, positionals } = parsed
  if (values.help) {
    console.log(USAGE)
    process.exit(0)
  }
  const { url, project, prices, from, force, token = process.env.API_KEY } = values
  const [command, ...more] = positionals
  if ((command !== 'pull' && command !== 'diff' && command !== 'push') || more.length > 0) {
    return misused('Name one of pull, diff and push')
  }
  if (url === undefined || !URL.canParse(url)) return misused('--url takes the origin of the service')
  if (project === undefined) return misused('--project is missing')
  if (!token) return misused('--token is missing')
  return {
    command,
    url: new URL(url).origin,
    project,
    token,
    prices,
    from,
    force,
    acceptLosses: values['accept-losses'],
  }
}

function misused(what: string): never {
  console.error(`${what}.\n\n${USAGE}`)
  process.exit(1)
}
