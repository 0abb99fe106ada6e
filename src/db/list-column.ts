import { type Column, type SQL, sql } from 'drizzle-orm'

/* Expressions over a column that holds a JSON list of items, each with an `id`. */

/** The list with an item behind the others. */
export function withItem(list: Column, item: { id: string }): SQL {
  return sql`json_insert(${list}, '$[#]', json(${JSON.stringify(item)}))`
}

/** The list without the item with this id. */
export function withoutItem(list: Column, id: string): SQL {
  return sql`(SELECT json_group_array(json(value)) FROM json_each(${list}) WHERE value->>'id' <> ${id})`
}

/** Whether the list has an item with this id. */
export function hasItem(list: Column, id: string): SQL {
  return sql`EXISTS (SELECT 1 FROM json_each(${list}) WHERE value->>'id' = ${id})`
}
