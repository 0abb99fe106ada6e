import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { checkoutAt, must, same } from './walking.ts'

const PAGES = ['docs/operate/operations.md', 'docs/guides/passkeys.md']

/**
 * What an operator does with a deployment after the deploy: create a first user, and paste the commands of the pages. Each entry is a test, as
 * in `walks`.
 *
 * @param folder a checkout that was deployed, with the file of its deployment
 * @param account where it was deployed
 */
export function walksOfOperators(folder: string, account: Account): [name: string, walk: () => Promise<void>][] {
  const { script, paste } = checkoutAt(folder)
  const rows = (sql: string) => account.databases[0]?.sqlite.prepare(sql).all() ?? []
  return [
    [
      'npm run bootstrap -- --remote creates a user in the deployed directory, once, and leaves no session if the server refuses',
      async () => {
        const owner = ['--owner', 'Ada@Example.com', '--remote']
        must(await script(account, 'bootstrap', owner), 0, 'ada@example.com is now a user of the deployed database')
        must(await script(account, 'bootstrap', owner), 0, 'ada@example.com is already a user of the deployed database')
        same('users', rows('SELECT email FROM users'), [{ email: 'ada@example.com' }])
        const nowhere = ['--project', 'First', '--url', 'http://127.0.0.1:9']
        const before = account.asked.length
        must(await script(account, 'bootstrap', [...owner, ...nowhere]), 1, 'http://127.0.0.1:9')
        // The user, the session, and its end.
        same('queries', account.asked.slice(before).filter((line) => line.endsWith('/query')).length, 3)
        same('sessions', rows('SELECT id FROM sessions'), [])
      },
    ],
    [
      'the wrangler commands of the pages for operators reach the deployed databases and queues',
      async () => {
        const lines = PAGES.flatMap((page) => commandsOf(readFileSync(join(folder, page), 'utf8')))
        const kinds = new Map(lines.map((line) => [/^npx wrangler (\S+ \S+( \S+ DB)?)/.exec(line)?.[1], line]))
        if (lines.length < 12 || kinds.size < 6) throw new Error(`only ${lines.length} commands of ${kinds.size} kinds`)
        // wrangler.toml, which wrangler reads otherwise, has no id of a database.
        same(
          'without the file of the deployment',
          lines.filter((line) => / d1 /.test(line) && !line.includes(' --config wrangler.deploy.toml')),
          [],
        )
        for (const line of kinds.values()) must(await paste(account, line), 0, '')
        for (const line of lines) {
          const [, , sql] = /--command (["'])(.*)\1/.exec(line) ?? []
          if (sql !== undefined) account.databases[0]?.sqlite.exec(sql)
        }
      },
    ],
  ]
}

/** The commands of a page about databases and queues that are there, without the comments after them. */
function commandsOf(page: string): string[] {
  const found = page.matchAll(/npx wrangler (d1 (?!create)|queues )[^\n`]+/g)
  return [...found].map(([line]) => line.replace(/ +#.*$/, ''))
}
