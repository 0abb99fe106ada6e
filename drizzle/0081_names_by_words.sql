-- Names are found by their words, without accents. The code writes the keys of a name with it, and triggers keep one row for each key. The
-- previous version writes names without keys: a trigger then takes the former keys away, and the cron writes those of the new name. That
-- version searches by `consumers_name` and `consumers_last_name`, which the cron drops after an hour. A new database has no such version.
-- Nothing uses the generated column `last_name` any more. It takes no space.
CREATE TABLE `customer_names` (
	`project_id` text NOT NULL,
	`name` text NOT NULL,
	`vendor` text NOT NULL,
	`customer` text NOT NULL,
	PRIMARY KEY(`project_id`, `name`, `customer`, `vendor`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `consumer_names` (
	`project_id` text NOT NULL,
	`name` text NOT NULL,
	`consumer_id` text NOT NULL,
	PRIMARY KEY(`project_id`, `name`, `consumer_id`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `consumers` ADD `name_keys` text;--> statement-breakpoint
CREATE INDEX `consumers_without_keys` ON `consumers` (`project_id`,lower("name"),`id`) WHERE name IS NOT NULL AND name_keys IS NULL;--> statement-breakpoint
ALTER TABLE `billing_objects` ADD `name_keys` text;--> statement-breakpoint
CREATE INDEX `billing_without_keys` ON `billing_objects` (`project_id`,`vendor_id`,`vendor`) WHERE kind = 'customer' AND name_keys IS NULL AND candidates ->> '$[0].body.name' IS NOT NULL;--> statement-breakpoint
INSERT INTO `state` (`name`, `value`) SELECT 'keyed_names_from', (unixepoch() + 3600) * 1000
WHERE EXISTS (SELECT 1 FROM `consumers`) OR EXISTS (SELECT 1 FROM `connections`);--> statement-breakpoint
CREATE TRIGGER `consumers_keyed` AFTER INSERT ON `consumers`
WHEN NEW.`name_keys` IS NOT NULL
BEGIN INSERT OR IGNORE INTO `consumer_names` (`name`, `project_id`, `consumer_id`) SELECT `value`, NEW.`project_id`, NEW.`id` FROM json_each(NEW.`name_keys`) WHERE `key` > 0; END;
--> statement-breakpoint
CREATE TRIGGER `consumers_rekeyed` AFTER UPDATE OF `name_keys` ON `consumers`
WHEN OLD.`name_keys` IS NOT NEW.`name_keys`
BEGIN DELETE FROM `consumer_names` WHERE `project_id` = OLD.`project_id` AND `consumer_id` = OLD.`id`
	AND `name` IN (SELECT `value` FROM json_each(OLD.`name_keys`) WHERE `key` > 0 AND `value` NOT IN (SELECT `value` FROM json_each(NEW.`name_keys`) WHERE `key` > 0));
INSERT OR IGNORE INTO `consumer_names` (`name`, `project_id`, `consumer_id`) SELECT `value`, NEW.`project_id`, NEW.`id` FROM json_each(NEW.`name_keys`) WHERE `key` > 0; END;
--> statement-breakpoint
CREATE TRIGGER `consumers_renamed` AFTER UPDATE OF `name` ON `consumers`
WHEN NEW.`name_keys` IS NOT NULL AND NEW.`name_keys` ->> '$[0]' IS NOT NEW.`name`
BEGIN UPDATE `consumers` SET `name_keys` = NULL WHERE `project_id` = NEW.`project_id` AND `id` = NEW.`id`; END;
--> statement-breakpoint
CREATE TRIGGER `customers_keyed` AFTER INSERT ON `billing_objects`
WHEN NEW.`name_keys` IS NOT NULL
BEGIN INSERT OR IGNORE INTO `customer_names` (`name`, `project_id`, `vendor`, `customer`) SELECT `value`, NEW.`project_id`, NEW.`vendor`, NEW.`vendor_id` FROM json_each(NEW.`name_keys`) WHERE `key` > 0; END;
--> statement-breakpoint
CREATE TRIGGER `customers_rekeyed` AFTER UPDATE OF `name_keys` ON `billing_objects`
WHEN OLD.`name_keys` IS NOT NEW.`name_keys`
BEGIN DELETE FROM `customer_names` WHERE `project_id` = OLD.`project_id` AND `vendor` = OLD.`vendor` AND `customer` = OLD.`vendor_id`
	AND `name` IN (SELECT `value` FROM json_each(OLD.`name_keys`) WHERE `key` > 0 AND `value` NOT IN (SELECT `value` FROM json_each(NEW.`name_keys`) WHERE `key` > 0));
INSERT OR IGNORE INTO `customer_names` (`name`, `project_id`, `vendor`, `customer`) SELECT `value`, NEW.`project_id`, NEW.`vendor`, NEW.`vendor_id` FROM json_each(NEW.`name_keys`) WHERE `key` > 0; END;
--> statement-breakpoint
CREATE TRIGGER `customers_renamed` AFTER UPDATE OF `candidates` ON `billing_objects`
WHEN NEW.`name_keys` IS NOT NULL AND NEW.`name_keys` ->> '$[0]' IS NOT NEW.`candidates` ->> '$[0].body.name'
BEGIN UPDATE `billing_objects` SET `name_keys` = NULL WHERE `project_id` = NEW.`project_id` AND `kind` = NEW.`kind` AND `vendor_id` = NEW.`vendor_id` AND `vendor` = NEW.`vendor`; END;
