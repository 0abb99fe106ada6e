/** Events referring to an object that one page of its timeline looks at. A few of them are about another object. */
export const MAX_LOOKED_AT = 1000
