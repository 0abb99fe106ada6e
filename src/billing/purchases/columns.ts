import { type Column, type SQL, sql } from 'drizzle-orm'
import { MONEY_BACK } from '../../vendors/purchase'

/** The money that came back, for `json_object`: as the row of a purchase has it, or that of a payment without a sale. */
export function moneyBack({ candidates }: { candidates: Column }): SQL {
  const field = (whole: string, name: string) => sql`${candidates}->${sql.raw(`'$[0].${whole}.${name}'`)}`
  const pairs = MONEY_BACK.flatMap((name) => [
    sql.raw(`'${name}'`),
    sql`json(coalesce(${field('money', name)}, ${field('body', name)}))`,
  ])
  return sql.join(pairs, sql`, `)
}
