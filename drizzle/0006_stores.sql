CREATE TABLE `stores` (
	`number` integer PRIMARY KEY NOT NULL,
	`first_seen_at` integer NOT NULL,
	`seen_at` integer DEFAULT 0 NOT NULL,
	`error` text,
	`size_bytes` integer,
	`migration` text,
	`closed` integer DEFAULT false NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `api_keys` ADD `minter_email` text;--> statement-breakpoint
ALTER TABLE `projects` ADD `store` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `projects_store` ON `projects` (`store`,`id`);--> statement-breakpoint
-- Until now every key was minted by a user of this database.
UPDATE `api_keys` SET `minter_email` = (SELECT `email` FROM `users` WHERE `users`.`id` = `api_keys`.`created_by`);
