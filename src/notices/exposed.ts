import { type SQL, sql } from 'drizzle-orm'
import { excluded } from '../db/sql'
import { MAX_EARLIER } from './limits'
import { notices } from './schema'

/* A notice about exposed secrets shows the prefix of the latest one. `earlier` has the prefixes that it showed before, of the same object. */

const prefixIn = (facts: SQL) => sql`coalesce(${facts} ->> '$.key_prefix', ${facts} ->> '$.token_prefix')`
const of = sql`${notices.facts}`

/** Whether a notice names the secret with this prefix. */
export function namesSecret(prefix: SQL): SQL {
  return sql`(${prefix} IS ${prefixIn(of)} OR coalesce(instr(${of} ->> '$.earlier', ${prefix}), 0) > 0)`
}

/** Whether a notice says what these facts say: that this secret was exposed, and if so, that its object was ended. */
export function saysExposed(facts: SQL): SQL {
  return sql`(${namesSecret(prefixIn(facts))} AND coalesce(${of} ->> '$.ended', 0) >= coalesce(${facts} ->> '$.ended', 0))`
}

/** The facts of a notice that is open when another secret is exposed. */
export function withEarlier(): SQL {
  const facts = excluded(notices.facts)
  const shown = prefixIn(facts)
  // The one that is shown now may have been among them.
  const earlier = sql`trim(replace(concat_ws(' ', '', ${prefixIn(of)}, ${of} ->> '$.earlier', ''), ' ' || ${shown} || ' ', ' '))`
  return sql`json_set(${facts}, '$.earlier', substr(${earlier}, 1, ${MAX_EARLIER}))`
}
