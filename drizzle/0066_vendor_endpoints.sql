CREATE TABLE `vendor_endpoints` (
	`project_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`due_at` integer,
	`checked_at` integer,
	`result` text,
	`error` text,
	PRIMARY KEY(`project_id`, `connection_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `vendor_endpoints_due` ON `vendor_endpoints` (`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
-- The endpoints of connections that have a key already are checked within a day, spread over it.
INSERT INTO `vendor_endpoints` (`project_id`, `connection_id`, `due_at`)
	SELECT `project_id`, `connection_id`, CAST(unixepoch() AS INTEGER) * 1000 + abs(random() % 86400000) FROM `vendor_keys` WHERE `state` = 'ok';
