/** What a token for `npm run deploy` needs: the names are those of Cloudflare's dashboard. */
const PERMISSIONS = 'Workers Scripts: Edit, Workers KV Storage: Edit, D1: Edit, Queues: Edit, Account Settings: Read'

/** What an operator does about a command of wrangler that failed, from what it said; null if we know nothing better. */
export function hintFor(args: readonly string[], said: string): string | null {
  if (/code: 10000\b|code: 9109\b/.test(said)) {
    return `CLOUDFLARE_API_TOKEN may not do this. Give the token these permissions of the account, and run this again:
${PERMISSIONS}.`
  }
  if (/workers\.dev subdomain/.test(said)) {
    return `Your account has no workers.dev subdomain yet. Choose one under Workers & Pages in the dashboard, and run this again.
Or serve the Worker only from a domain of your own: docs/operate/operations.md, "A domain of your own".`
  }
  if (args.includes('migrations')) {
    return `A migration failed, so the Worker was not uploaded: the previous version keeps serving. Migrations before the one
that failed stay applied. Fix the cause and run this again; docs/operate/operations.md, "Upgrades and migrations", says how.`
  }
  if (args[0] === 'deploy' && /^Uploaded /m.test(said)) {
    return `The Worker was uploaded, but not all of its triggers (cron, queues, address) were set. Fix the cause and run this again.`
  }
  if (args[0] === 'deploy') {
    return `The Worker was not uploaded. The database, the namespace and the queues are ready: fix the cause and run this again.`
  }
  return null
}
