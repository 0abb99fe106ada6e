CREATE TABLE `entitlement_keys` (
	`project_id` text NOT NULL,
	`kid` text NOT NULL,
	`state` text NOT NULL,
	`public` text NOT NULL,
	`key` integer,
	`box` text,
	`created_at` integer NOT NULL,
	`state_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `kid`),
	CONSTRAINT "entitlement_keys_sealed" CHECK(("entitlement_keys"."state" = 'retired') = ("entitlement_keys"."box" IS NULL) AND ("entitlement_keys"."key" IS NULL) = ("entitlement_keys"."box" IS NULL))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `entitlement_keys_one` ON `entitlement_keys` (`project_id`,`state`) WHERE state IN ('current', 'next');--> statement-breakpoint
CREATE INDEX `entitlement_keys_age` ON `entitlement_keys` (`state`,`state_at`);