// See api_names.h. Everything but the names of other engines comes from api.def.
#include "core/script/api/api_names.h"

#include "core/base/nearest.h"

#include <stdio.h>
#include <string.h>

static const ApiField fields[] = {
#define API_FIELD(owner, name, type, doc) {#owner, #name, type},
#include "core/script/api.def"
};
#define FIELD_COUNT (sizeof fields / sizeof fields[0])

static const char *const classes[] = {
#define API_GROUP(name, doc)       #name,
#define API_CLASS(name, doc)       #name,
#define API_SHAPE(name, side, doc) #name,
#include "core/script/api.def"
};
#define CLASS_COUNT (sizeof classes / sizeof classes[0])

static const struct {
    const char *name, *words;
} word_types[] = {
#define API_WORDS(name, words, doc) {#name, words},
#include "core/script/api.def"
};
#define WORD_TYPE_COUNT (sizeof word_types / sizeof word_types[0])

// --- classes and their members ------------------------------------------------------------------

const ApiField *api_fields(uint32_t *count)
{
    *count = FIELD_COUNT;
    return fields;
}

static bool is_text(const char *text, size_t bytes, const char *other)
{
    return strlen(other) == bytes && memcmp(text, other, bytes) == 0;
}

const char *api_class_of(const char *type, bool *is_list)
{
    size_t bytes = strlen(type);
    bytes -= bytes > 0 && type[bytes - 1] == '?';
    bytes -= bytes > 6 && memcmp(type + bytes - 6, " | nil", 6) == 0 ? 6 : 0;
    *is_list = bytes > 2 && type[0] == '{' && type[bytes - 1] == '}';
    if (*is_list) {
        type += 1;
        bytes -= 2;
    }
    bytes -= bytes > 2 && type[bytes - 1] == '}' ? 2 : 0; // "RaycastResult{}"
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (is_text(type, bytes, classes[i])) {
            return classes[i];
        }
    }
    return NULL;
}

static bool is_object_member(const ApiRow *row, const char *class)
{
    return (row->kind == API_KIND_METHOD || row->kind == API_KIND_PROPERTY ||
            row->kind == API_KIND_EVENT) &&
           strcmp(row->owner, class) == 0;
}

bool api_class_member(const char *class, const char *name, ApiMember *out)
{
    uint32_t count;
    const ApiRow *rows = api_rows(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (is_object_member(&rows[i], class) && strcmp(rows[i].name, name) == 0) {
            *out = (ApiMember){&rows[i], rows[i].kind == API_KIND_PROPERTY ? rows[i].returns : ""};
            return true;
        }
    }
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(fields[i].shape, class) == 0 && strcmp(fields[i].name, name) == 0) {
            *out = (ApiMember){NULL, fields[i].type};
            return true;
        }
    }
    return false;
}

bool api_class_is_open(const char *class)
{
    return strcmp(class, "Entity") == 0;
}

bool api_class_is_table(const char *class)
{
    static const char *const shapes[] = {
#define API_SHAPE(name, side, doc) #name,
#include "core/script/api.def"
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (strcmp(shapes[i], class) == 0) {
            return true;
        }
    }
    return false;
}

const char *api_class_nearest(const char *class, Text name)
{
    uint32_t count;
    const ApiRow *rows = api_rows(&count);
    Nearest nearest = nearest_begin(name.data, name.bytes);
    for (uint32_t i = 0; i < count; i++) {
        if (is_object_member(&rows[i], class)) {
            (void)nearest_consider(&nearest, rows[i].name, strlen(rows[i].name));
        }
    }
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(fields[i].shape, class) == 0) {
            (void)nearest_consider(&nearest, fields[i].name, strlen(fields[i].name));
        }
    }
    return nearest.found;
}

void api_options_text(const char *shape, Text name, char out[API_OPTIONS_BYTES])
{
    const char *nearest = api_class_nearest(shape, name);
    if (nearest != NULL) {
        (void)snprintf(out, API_OPTIONS_BYTES, "did you mean \"%s\"?", nearest);
        return;
    }
    size_t used = (size_t)snprintf(out, API_OPTIONS_BYTES, "the options are");
    const char *joint = " ";
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(fields[i].shape, shape) == 0) {
            used += (size_t)snprintf(out + used, API_OPTIONS_BYTES - used, "%s%s", joint,
                                     fields[i].name);
            joint = ", ";
            ASSERT(used < API_OPTIONS_BYTES);
        }
    }
}

const char *api_option_name(const char *name)
{
    return strcmp(name, "color") == 0 ? "colour" : name;
}

// --- words --------------------------------------------------------------------------------------

const char *api_words_of(const char *type, size_t bytes)
{
    for (size_t i = 0; i < WORD_TYPE_COUNT; i++) {
        if (is_text(type, bytes, word_types[i].name)) {
            return word_types[i].words;
        }
    }
    return NULL;
}

// The next of the words, and what follows it.
static const char *next_word(const char *at, size_t *bytes)
{
    at += strspn(at, " ");
    *bytes = strcspn(at, " ");
    return at;
}

bool api_words_has(const char *words, Text word)
{
    size_t bytes;
    for (const char *at = next_word(words, &bytes); bytes > 0; at = next_word(at + bytes, &bytes)) {
        if (bytes == word.bytes && memcmp(at, word.data, bytes) == 0) {
            return true;
        }
    }
    return false;
}

void api_words_text(const char *words, Text word, char *out, size_t capacity)
{
    Nearest nearest = nearest_begin(word.data, word.bytes);
    size_t bytes, used = 0;
    for (const char *at = next_word(words, &bytes); bytes > 0; at = next_word(at + bytes, &bytes)) {
        const bool is_last = at[bytes] == '\0';
        (void)nearest_consider(&nearest, at, bytes);
        used += (size_t)snprintf(out + used, capacity - used, "%s%.*s",
                                 at == words ? ""
                                 : is_last   ? " or "
                                             : ", ",
                                 (int)bytes, at);
        ASSERT(used < capacity);
    }
    if (nearest.found != NULL) {
        (void)snprintf(out + used, capacity - used, "; did you mean %.*s?",
                       (int)nearest.found_bytes, nearest.found);
    }
}

// --- names of other engines ---------------------------------------------------------------------

typedef struct Foreign {
    const char *name;
    const char *instead; // goes on from "… is not here: "
} Foreign;

static const Foreign globals[] = {
    {"game", "services are globals, so write Players instead of game:GetService(\"Players\") and "
             "World instead of game.Workspace"},
    {"script", "the hooks of a script on an entity get that entity, so write function "
               "onStart(self) and self instead of script.Parent"},
    {"Instance", "entities are made from prefabs of the place, so write World.Spawn(\"Crate\", "
                 "position) instead of Instance.new"},
    {"CFrame", "write entity.Position = Vector3.new(x, y, z) and entity.Rotation = "
               "Vector3.new(0, degrees, 0)"},
    {"Color3", "a colour is a text, so write \"#ff8800\""},
    {"BrickColor", "a colour is a text, so write \"#ff8800\""},
    {"Enum", "words are texts, so write \"Space\" instead of Enum.KeyCode.Space"},
    {"wait", "write task.wait(seconds)"},
    {"delay", "write task.delay(seconds, callback)"},
    {"spawn", "write task.spawn(callback)"},
    {"tick", "write World.Time() for a duration, os.time() for a date"},
    {"time", "write World.Time()"},
    {"elapsedTime", "write World.Time()"},
    {"workspace", "write World, as in World.Find(\"Door\")"},
    {"Workspace", "write World, as in World.Find(\"Door\")"},
    {"Debris", "write task.delay(seconds, function() entity:Destroy() end)"},
    {"Humanoid", "a character is one entity, so write character.Health, character:TakeDamage(10) "
                 "or player.Died:Connect(callback)"},
    {"DataStoreService", "write DataStore.GetDataStore(\"Coins\")"},
    {"HttpService", "write Json.Encode and Json.Decode; scripts reach no other servers"},
    {"RunService", "write function onUpdate(self, dt), which runs every tick"},
    {"TweenService", "write entity:MoveTo(position, seconds)"},
    {"TweenInfo", "write entity:MoveTo(position, seconds)"},
    {"UserInputService", "write Input.IsKeyPressed(\"Space\") or Input.Pressed:Connect(callback), "
                         "in a client script"},
    {"ContextActionService", "write Input.Pressed:Connect(callback), in a client script"},
    {"CollectionService", "write World.GetTagged(\"Coin\") and entity:AddTag(\"Coin\")"},
    {"ReplicatedStorage", "write require(\"ReplicatedStorage/Name\") for a module, and Network for "
                          "remotes"},
    {"ServerStorage", "write require(\"ServerScriptService/Name\") for a module, and World.Spawn "
                      "for a prefab"},
    {"ServerScriptService", "write require(\"ServerScriptService/Name\")"},
    {"SoundService", "write Sound.Play(\"name\")"},
    {"Teams", "write player.Team = \"red\""},
    {"RaycastParams", "write World.Raycast(origin, direction, distance, ignore)"},
    {"Ray", "write World.Raycast(origin, direction, distance)"},
    {"Region3", "write World.GetInBox(from, to) or World.GetInRadius(center, radius)"},
    {"collectgarbage", "memory that nobody uses is free again by itself, so leave it out"},
    {"UDim2", "widgets lay themselves out, so write UI.List{anchor = \"top\", …}"},
    {"UDim", "widgets lay themselves out, so write UI.List{gap = 8, …}"},
    {"Vector2", "write Vector3.new(x, y, 0)"},
    {"RemoteEvent", "write Network.FireServer(name, …) and Network.OnClientEvent(name, callback)"},
    {"shared", "write a module of ReplicatedStorage, and require it"},
    {"null", "write nil"},
    {"undefined", "write nil"},
    {"None", "write nil"},
    {"True", "write true"},
    {"False", "write false"},
    {"console", "write print(…)"},
    {"self", "self is there only in a function that has it as a parameter: function onStart(self)"},
};

static const Foreign members[] = {
    // of parts
    {"CanCollide", "write entity:SetSolid(false)"},
    {"CanTouch", "connect to entity.Touched, or leave it"},
    {"Anchored", "a part moves only by entity:MoveTo and entity:SetVelocity; the scene's anchored "
                 "says the rest"},
    {"Reflectance", "write entity.Material = \"metal\""},
    {"BrickColor", "a colour is a text: write entity.Color = \"#ff8800\""},
    {"TextureID", "write entity.Texture = \"assets/name.png\""},
    {"MeshId", "write entity.Model = \"assets/name.glb\""},
    {"CFrame", "write entity.Position and entity.Rotation"},
    {"AssemblyLinearVelocity", "write entity.Velocity"},
    {"ClassName", "write entity.Type"},
    {"TouchEnded", "write entity.TriggerLeft:Connect(callback), on a trigger"},
    // of characters
    {"Humanoid", "a character is one entity: write character.Health, character:TakeDamage(10)"},
    {"HumanoidRootPart", "a character is one entity: write character.Position"},
    {"PrimaryPart", "an entity is one thing: write entity.Position"},
    {"WalkSpeed", "how fast characters walk is walkSpeed under character in place.json"},
    {"JumpPower", "how high characters jump is jumpSpeed under character in place.json"},
    {"JumpHeight", "how high characters jump is jumpSpeed under character in place.json"},
    {"BreakJoints", "write player:Kill()"},
    {"MoveDirection", "write character.Velocity"},
    // of players
    {"CharacterAdded", "write player.Spawned:Connect(callback)"},
    {"CharacterRemoving", "write player.Died:Connect(callback)"},
    {"LoadCharacter", "write player:Spawn()"},
    {"PlayerGui", "write UI.Show(tree), in a client script"},
    {"Backpack", "keep what a player owns in a table by player.UserId"},
    {"DisplayName", "write player.Name"},
    {"TeamColor", "write player.Team"},
    {"GetMouse", "write camera.Position and camera.Forward with World.Raycast, in a client script"},
    // of everything
    {"WaitForChild", "what is in the scene is there at once: write World.Find(\"Name\")"},
    {"FindFirstChild", "write World.Find(\"Name\")"},
    {"FindFirstChildOfClass", "write World.Find(\"Name\")"},
    {"FindFirstAncestor", "entities are not inside each other"},
    {"GetChildren", "write World.GetTagged(\"Tag\"), with a tag on each of them"},
    {"GetDescendants", "write World.GetTagged(\"Tag\"), with a tag on each of them"},
    {"GetService", "services are globals: write Players, World, DataStore"},
    {"IsA", "write entity.Type == \"Part\""},
    {"ClearAllChildren", "write entity:Destroy() for each of them"},
    {"GetPropertyChangedSignal", "compare it in onUpdate"},
    {"SetPrimaryPartCFrame", "write entity:SetPosition(position)"},
    {"PivotTo", "write entity:SetPosition(position)"},
    {"GetPivot", "write entity.Position"},
    {"MouseButton1Click", "write UI.Button{text = \"Buy\", OnClick = callback}"},
    {"FireAllClients", "write Network.Broadcast(name, …)"},
    {"Heartbeat", "write function onUpdate(self, dt)"},
    {"RenderStepped", "write function onUpdate(self, dt)"},
};

// The same, for names that creators use themselves.
static const Foreign common_members[] = {
    {"Orientation", "write entity.Rotation, in degrees"},
    {"Parent", "entities are not inside each other; write entity:Destroy() to remove one"},
    {"MaxHealth", "the health of a new character is healthMax under character in place.json"},
    {"OnServerEvent", "write Network.OnClientEvent(name, callback), on the server"},
    {"OnClientEvent", "write Network.OnServerEvent(name, callback), on a client"},
    {"Clone", "entities are made from prefabs: write World.Spawn(\"Crate\", position)"},
    {"Instance", "write Entity"},
};

static const Foreign *find_foreign(const Foreign *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

const char *api_foreign_global(const char *name)
{
    const Foreign *found = find_foreign(globals, sizeof globals / sizeof globals[0], name);
    return found != NULL ? found->instead : NULL;
}

const char *api_foreign_member(const char *name, bool *is_telling)
{
    const Foreign *found = find_foreign(members, sizeof members / sizeof members[0], name);
    *is_telling = found != NULL;
    if (found == NULL) {
        found =
            find_foreign(common_members, sizeof common_members / sizeof common_members[0], name);
    }
    return found != NULL ? found->instead : NULL;
}
